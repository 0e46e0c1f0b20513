package run

import (
	"net/http"
	"net/url"
	"time"

	"muster/app"
	"muster/app/run"
	"muster/app/template"
	"muster/portal/page"

	"github.com/go-chi/chi/v5"
)

// Actions is the page of what can be run on a cluster's nodes.
type Actions struct {
	Cluster app.Cluster
	Tabs    page.ClusterTabs
	All     []run.Action
	May     bool // run a command

	Now       time.Time
	User      string
	Owns      bool // may change schedules of others
	Schedules []run.ActionSchedule
	New       run.NewSchedule // as typed
	Complaint page.Complaint
}

// link is the address of the form that runs an action; "" is a command.
func (a Actions) link(action string) string {
	q := url.Values{"kind": {string(app.OperationRun)}}
	if action != "" {
		q.Set("action", action)
	}
	return "/clusters/" + a.Cluster.ID + "/change?" + q.Encode()
}

func (p *Service) actions(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showActions(w, r, a, http.StatusOK, run.NewSchedule{}, page.Complaint{})
}

func (p *Service) showActions(w http.ResponseWriter, r *http.Request, a app.Actor, status int, n run.NewSchedule, wrong page.Complaint) error {
	c, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	all, err := p.Runs.Actions(r.Context(), a, c.ID)
	if err != nil {
		return err
	}
	schedules, err := p.Runs.ActionSchedules(r.Context(), a, c.ID)
	if err != nil {
		return err
	}
	v := Actions{Now: p.Now(), User: a.Name(), Owns: a.MayIn("Update", c.Cluster), Schedules: schedules, New: n,
		Complaint: wrong, Cluster: c.Cluster, Tabs: p.ClusterTabs(a, c, "overview"), All: all, May: a.MayIn("RunCommand", c.Cluster)}
	p.Render(w, r, status, ActionsPage(p.ClusterFrame(r, "Actions of "+c.Name), v))
	return nil
}

// whereOf says on which nodes an action runs.
func whereOf(a template.SavedAction) []string {
	if len(a.On) == 0 {
		return []string{"on all nodes"}
	}
	return append([]string{"on nodes with " + a.On[0]}, a.On[1:]...)
}
