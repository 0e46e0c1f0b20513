package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/schedule"
	"muster/portal/site"
)

// PowerAsk shows what a sleep or a wake would do; what is shown is what runs.
func (p *Service) PowerAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askPower(w, r, a, http.StatusOK, "")
}

func (p *Service) askPower(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string) error {
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

func (p *Service) Power(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	do := p.Sleeping.SleepCluster
	if chi.URLParam(r, "power") == "wake" {
		do = p.Sleeping.WakeCluster
	}
	answer, err := do(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("plan_hash"))
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askPower(w, r, a, http.StatusConflict, "More has happened since you looked. This is what would be done now.")
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

// Schedule sets when a cluster sleeps and wakes, or takes it away.
func (p *Service) Schedule(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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

// CloneAsk shows what a clone would be.
func (p *Service) CloneAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askClone(w, r, a, http.StatusOK, r.URL.Query().Get("name"), "")
}

func (p *Service) askClone(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name, notice string) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	found, err := p.Creates.PreviewClone(r.Context(), a, v.ID, name)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Clone "+v.Name)
	f.At = "clusters"
	p.Render(w, r, status, ClonePage(f, Clone{View: v, Name: name, Preview: found, Notice: notice}))
	return nil
}

func (p *Service) Clone(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	answer, err := p.Creates.CloneCluster(r.Context(), a, chi.URLParam(r, "id"), name, r.PostForm.Get("plan_hash"))
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askClone(w, r, a, http.StatusConflict, name, "The catalog has changed since you looked. This is what would be made now.")
	}
	if err != nil {
		return err
	}
	to := fmt.Sprintf("/requests/%d", answer.Request.ID)
	if id := answer.Request.Cluster; id != "" {
		to = "/clusters/" + id
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Diff compares a cluster with another one, or with how an operation left it.
func (p *Service) Diff(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	with := r.URL.Query().Get("with")
	d, err := p.Specs.DiffClusters(r.Context(), a, with, v.ID)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Compare "+v.Name)
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, DiffPage(f, Diff{View: v, Diff: d}))
	return nil
}

// Spec is the spec as a file, which a create on the command line reads.
func (p *Service) Spec(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	e, err := p.Specs.ExportCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(e.Spec, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(e.Spec.Name+".json"))
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(text, '\n'))
	return nil
}

// manage reads what the page to manage a cluster shows beside the cluster.
func (p *Service) manage(ctx context.Context, a app.Actor, m *Manage) error {
	if m.View.Status == app.ClusterDeleted {
		return nil
	}
	var err error
	if m.Schedule, err = p.Schedules.Schedule(ctx, a, m.View.ID); err != nil {
		return err
	}
	if a.MayIn("ShareCluster", m.View.Cluster) {
		s, err := p.Sharing.ClusterSharing(ctx, a, m.View.ID)
		if err != nil {
			return err
		}
		m.Sharing = &s
	}
	return nil
}
