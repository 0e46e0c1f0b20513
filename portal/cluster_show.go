package portal

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

// How much of a log a page begins with, and how much of a failure it shows on top.
const (
	logTail      = 200
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
	c.Log, err = p.muster.Logs(r.Context(), a, c.View.ID, app.LogFilter{Node: c.Node, Step: c.Step, Tail: true, Limit: logTail})
	if err != nil {
		return err
	}
	if p.money() != nil && c.View.Status != app.ClusterDeleted {
		o, err := p.money().LeaseOutlook(r.Context(), a, c.View.ID)
		if err != nil {
			return err
		}
		c.Lease = &page.LeaseBox{Now: c.Now, Outlook: o, May: a.May("ExtendLease", o.Owner), Admin: a.May("ExtendLease", ""), Cost: c.View.CostPerHour}
	}
	f := p.frame(r, c.View.Name)
	f.At = "clusters"
	if c.Running() && len(c.Questions) == 0 { // else what somebody types would be gone
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, page.ClusterShowPage(f, c))
	return nil
}

// readCluster reads all that the page shows except its log.
func (p *Portal) readCluster(ctx context.Context, a app.Actor, id string) (page.ClusterShow, error) {
	c := page.ClusterShow{Now: p.now(), Actor: a, Manage: p.life() != nil, Receipts: p.machines() != nil, Checks: p.checking() != nil}
	var err error
	if c.View, err = p.muster.Cluster(ctx, a, id); err != nil {
		return c, err
	}
	if c.Change, err = p.changePanel(ctx, a, c.View); err != nil {
		return c, err
	}
	op := c.Operation()
	if op == nil {
		return c, nil
	}
	if op.Status == app.OperationRunning {
		if c.Questions, err = p.questionsOf(ctx, a, c.View.ID); err != nil {
			return c, err
		}
	}
	if c.Steps, err = p.muster.Steps(ctx, a, id, op.ID); err != nil {
		return c, err
	}
	if !op.Status.Ended() && op.Status != app.OperationCancelling {
		// Of a cluster that is as big as they come only the counts are read.
		if c.Waiting, err = p.muster.Waiting(ctx, a, id, app.WaitingFilter{Limit: 1}); err != nil {
			return c, err
		}
	}
	if c.View.Status != app.ClusterFailed && !c.Can(app.ActRetryNode) {
		return c, nil
	}
	for _, s := range c.Steps {
		if s.State != app.StepFailed || len(c.Failures) == failureShown {
			continue
		}
		lines, err := p.muster.Logs(ctx, a, id, app.LogFilter{Operation: op.ID, Step: s.ID, Tail: true, Limit: failureTail})
		if err != nil {
			return c, err
		}
		c.Failures = append(c.Failures, page.Failure{Step: s, Lines: lines})
	}
	return c, nil
}
