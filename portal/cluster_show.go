package portal

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	clusterpage "muster/portal/cluster"
	"muster/portal/page"
)

// How much of a log a page begins with, and how much of a failure it shows on top.
const (
	logTail      = 100
	failureTail  = 8
	failureShown = 3
)

func (p *Portal) clusterShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.readCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	c.Node, c.Step = q.Get("node"), q.Get("step")
	c.NodesFrom, _ = strconv.Atoi(q.Get("from"))
	c.Log, err = p.muster.Logs(r.Context(), a, c.View.ID, app.LogFilter{Node: c.Node, Step: c.Step, Tail: true, Limit: logTail})
	if err != nil {
		return err
	}
	if err := p.draw(r.Context(), a, &c, drawnBy(q)); err != nil {
		return err
	}
	c.Opened = q.Get("plan") != ""
	if c.Have, err = digests(r.Context(), c); err != nil {
		return err
	}
	f := p.clusterFrame(r, c.View.Name)
	if c.Running() && len(c.Questions) == 0 { // else what somebody types would be gone
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, clusterpage.ShowPage(f, c))
	return nil
}

// clusterFrame is the frame of a page of one cluster.
func (p *Portal) clusterFrame(r *http.Request, title string) page.Frame {
	f := p.frame(r, title)
	f.At, f.Styles, f.Scripts = "clusters", append(f.Styles, "plan.css", "cluster.css"), append(f.Scripts, "cluster.js")
	return f
}

// clusterTabs are the pages of a cluster that this person can open.
func (p *Portal) clusterTabs(a app.Actor, v app.ClusterView, at string) page.ClusterTabs {
	return page.ClusterTabs{ID: v.ID, At: at, Access: v.Status != app.ClusterDeleted,
		Health: p.watching() != nil && v.Status != app.ClusterDeleted, Manage: p.life() != nil && v.Status != app.ClusterDeleted}
}

// readCluster reads all that the page shows except its log.
func (p *Portal) readCluster(ctx context.Context, a app.Actor, id string) (clusterpage.Show, error) {
	return p.readClusterSince(ctx, a, id, 0)
}

// readClusterSince is readCluster for an open page, which knows of what happened up to since; what is the same for others may have been
// read for them. 0 reads all of it now.
func (p *Portal) readClusterSince(ctx context.Context, a app.Actor, id string, since int64) (clusterpage.Show, error) {
	c := clusterpage.Show{Now: p.now(), Actor: a}
	var err error
	if c.View, err = p.muster.Cluster(ctx, a, id); err != nil {
		return c, err
	}
	c.Tabs = p.clusterTabs(a, c.View, "overview")
	if p.money() != nil && c.View.Status != app.ClusterDeleted {
		o, err := p.money().LeaseOutlook(ctx, a, c.View.ID)
		if err != nil {
			return c, err
		}
		c.Lease = &clusterpage.LeaseBox{Now: c.Now, Outlook: o, May: a.MayIn("ExtendLease", c.View.Cluster), Admin: a.MayIn("ExtendLease", app.Cluster{}), Cost: c.View.CostPerHour}
	}
	if c.Change, err = p.changePanel(ctx, a, c.View); err != nil {
		return c, err
	}
	catalog, err := p.muster.Catalog(ctx, a)
	if err != nil {
		return c, err
	}
	c.Services = clusterpage.NewServiceLines(c.View, catalog, titlesOf(catalog))
	op := c.Operation()
	if op == nil {
		return c, nil
	}
	if op.Status == app.OperationRunning {
		if c.Questions, err = p.questionsOf(ctx, a, c.View.ID); err != nil {
			return c, err
		}
	}
	facts, err := p.clusterFacts(ctx, a, id, *op, since)
	if err != nil {
		return c, err
	}
	c.Steps, c.Waiting = facts.steps, facts.waiting
	if c.View.Status != app.ClusterFailed && !c.Can(app.ActRetryNode) {
		return c, nil
	}
	said := cluster.SaidErrors{}
	for _, s := range c.Steps {
		if s.State != app.StepFailed || len(c.Failures) == failureShown {
			continue
		}
		lines, err := p.muster.Logs(ctx, a, id, app.LogFilter{Operation: op.ID, Step: s.ID, Tail: true, Limit: failureTail})
		if err != nil {
			return c, err
		}
		s.Error = said.Say(page.StepWords(s.Node, s.Action, s.Service), s.Error)
		c.Failures = append(c.Failures, clusterpage.Failure{Step: s, Lines: lines})
	}
	return c, nil
}

// clusterFacts reads the steps of a cluster's operation, and what it waits for.
func (p *Portal) clusterFacts(ctx context.Context, a app.Actor, id string, op app.Operation, since int64) (clusterFacts, error) {
	read := func(ctx context.Context) (f clusterFacts, err error) {
		if f.steps, err = p.graph(ctx, a, id, op.ID); err != nil {
			return f, err
		}
		if !op.Status.Ended() && op.Status != app.OperationCancelling {
			// Of a cluster that is as big as they come only the counts are read.
			f.waiting, err = p.muster.Waiting(ctx, a, id, execution.WaitingFilter{Limit: 1})
		}
		return f, err
	}
	if since == 0 {
		return read(ctx)
	}
	f, _, err := p.facts.get(ctx, fmt.Sprintf("%q %q %q %d %s", a.Tenant, a.Role, id, op.ID, op.Status), since, read)
	return f, err
}
