package cluster

import (
	"context"
	"fmt"
	"net/http"

	"muster/app"
	"muster/app/schedule"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// powerPages are the pages to put clusters to sleep and wake them, now or on a schedule.
type powerPages struct {
	*site.Site
}

func (p *powerPages) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/{power:sleep|wake}", p.Ask),
		site.Submit("/clusters/{id}/{power:sleep|wake}", p.Start),
		site.Submit("/clusters/{id}/schedule", p.Schedule),
	}
}

func (p *powerPages) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/sleep", p.APISleepPreview, site.About("Preview putting a cluster to sleep")),
		site.Post("/clusters/{id}/sleep", p.APISleep, site.About("Put a cluster to sleep, or request it if approval is required"), site.EitherUpdate),
		site.Get("/clusters/{id}/wake", p.APIWakePreview, site.About("Preview waking a cluster")),
		site.Post("/clusters/{id}/wake", p.APIWake, site.About("Wake a cluster, or request it if approval is required"), site.EitherUpdate),
		site.Get("/clusters/{id}/schedule", p.APIScheduleShow, site.About("Show a cluster's sleep and wake schedule")),
		site.Put("/clusters/{id}/schedule", p.APIScheduleSet, site.About("Set a cluster's sleep and wake schedule")),
	}
}

// Ask previews putting a cluster to sleep or waking it. What it shows is what runs.
func (p *powerPages) Ask(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.ask(w, r, a, http.StatusOK, "")
}

func (p *powerPages) ask(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	preview := p.Sleeping.PreviewSleep
	if chi.URLParam(r, "power") == "wake" {
		preview = p.Sleeping.PreviewWake
	}
	found, err := preview(r.Context(), a, v.ID)
	if err != nil {
		return err
	}
	f := p.Frame(r, PowerTitle(found.Kind, v.Name))
	f.At = "clusters"
	p.Render(w, r, status, PowerPage(f, Power{View: v, Preview: found, Notice: notice, May: a.MayIn("SleepCluster", v.Cluster)}))
	return nil
}

func (p *powerPages) Start(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	do := p.Sleeping.SleepCluster
	if chi.URLParam(r, "power") == "wake" {
		do = p.Sleeping.WakeCluster
	}
	answer, err := do(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("plan_hash"))
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.ask(w, r, a, http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.")
	}
	if err != nil {
		return err
	}
	to := "/clusters/" + chi.URLParam(r, "id")
	if answer.Request != nil && answer.Request.Status.Open() {
		to = fmt.Sprintf("/requests/%d", answer.Request.ID)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Schedule sets or removes a cluster's sleep and wake schedule.
func (p *powerPages) Schedule(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	s := schedule.Schedule{Sleep: r.PostForm.Get("sleep"), Wake: r.PostForm.Get("wake"), Zone: r.PostForm.Get("zone")}
	if r.PostForm.Get("clear") != "" {
		s = schedule.Schedule{}
	}
	set, err := p.Schedules.SetSchedule(r.Context(), a, chi.URLParam(r, "id"), s)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+set.Cluster+"/manage#schedule", http.StatusSeeOther)
	return nil
}

// read reads the rest of the page of a cluster's settings.
func (p *managePages) read(ctx context.Context, a app.Actor, m *Manage) error {
	if m.View.Status == app.ClusterDeleted {
		return nil
	}
	var err error
	m.Schedule, err = p.Schedules.Schedule(ctx, a, m.View.ID)
	return err
}
