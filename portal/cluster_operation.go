package portal

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"muster/app"
	clusterpage "muster/portal/cluster"
	operationpage "muster/portal/operation"
	planpage "muster/portal/plan"
)

// Graphing is a power that a Muster may have: to tell a plan with the joins in it, from which it is drawn faithfully and at less
// cost. A portal without it draws what Steps gives.
type Graphing interface {
	StepGraph(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
}

// graph gives the steps of an operation for its picture; operation 0 is the latest.
func (p *Portal) graph(ctx context.Context, a app.Actor, cluster string, operation int64) (steps []app.Step, err error) {
	if g, ok := p.muster.(Graphing); ok {
		steps, err = g.StepGraph(ctx, a, cluster, operation)
	} else {
		steps, err = p.muster.Steps(ctx, a, cluster, operation)
	}
	return planpage.WithExpected(steps), err
}

// drawn is which picture of a plan an address asks for.
type drawn struct {
	kind string
	from int // the first row of a timeline
	span time.Duration
}

func drawnBy(q url.Values) drawn {
	d := drawn{kind: q.Get("plan")}
	d.from, _ = strconv.Atoi(q.Get("rows"))
	d.from = max(d.from, 0)
	if n, err := strconv.ParseInt(q.Get("span"), 10, 64); err == nil && n > 0 && n < 1e6 {
		d.span = time.Duration(n) * time.Second
	}
	return d
}

// draw prepares the picture of the plan that a page shows.
func (p *Portal) draw(ctx context.Context, a app.Actor, c *clusterpage.Show, d drawn) (err error) {
	op := c.PlanOperation()
	if op == nil {
		return nil
	}
	c.GanttSpan = d.span
	if d.kind == "timeline" {
		if c.Tries, err = p.tries(ctx, a, c, d.from); err != nil {
			return err
		}
	}
	c.Draw(d.kind, *op, d.from)
	return nil
}

// Of how many steps the earlier tries are looked up, and in how many lines of each.
const (
	triedShown = 20
	triedLines = 1000
)

// tries tells when the earlier tries of steps were, as far as their logs tell.
func (p *Portal) tries(ctx context.Context, a app.Actor, c *clusterpage.Show, from int) (planpage.Tries, error) {
	nodes, _, _ := planpage.GanttNodes(c.Steps, from)
	shown := map[string]bool{}
	for _, n := range nodes {
		shown[n] = true
	}
	out := planpage.Tries{}
	for _, s := range c.Steps {
		if s.Attempt < 2 || s.Join || !shown[s.Node] || len(out) == triedShown {
			continue
		}
		lines, err := p.muster.Logs(ctx, a, c.View.ID, app.LogFilter{Operation: s.Operation, Step: s.ID, Limit: triedLines})
		if err != nil {
			return nil, err
		}
		out[s.Index] = planpage.TriesFromLog(s, lines)
	}
	return out, nil
}

// clusterPlan is the page of the latest operation.
func (p *Portal) clusterPlan(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.operationPage(w, r, a, 0)
}

// clusterOperation is the page of one operation, for good.
func (p *Portal) clusterOperation(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	n, err := strconv.ParseInt(chi.URLParam(r, "operation"), 10, 64)
	if err != nil || n < 1 {
		return app.Errorf(app.ENotFound, "%q is not the number of an operation.", chi.URLParam(r, "operation"))
	}
	return p.operationPage(w, r, a, n)
}

func (p *Portal) operationPage(w http.ResponseWriter, r *http.Request, a app.Actor, operation int64) error {
	c, err := p.readOperation(r.Context(), a, chi.URLParam(r, "id"), operation, drawnBy(r.URL.Query()))
	if err != nil {
		return err
	}
	title := c.View.Name
	if c.Pinned == nil { // it was never asked for anything
		http.Redirect(w, r, "/clusters/"+c.View.ID, http.StatusSeeOther)
		return nil
	}
	if c.Have, err = digests(r.Context(), c); err != nil {
		return err
	}
	f := p.clusterFrame(r, "Plan of "+title)
	if !c.Pinned.Status.Ended() {
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, operationpage.OperationPage(f, c))
	return nil
}

// readOperation reads all that the page of an operation shows; operation 0 is the latest.
func (p *Portal) readOperation(ctx context.Context, a app.Actor, id string, operation int64, d drawn) (clusterpage.Show, error) {
	c := clusterpage.Show{Now: p.now(), Actor: a}
	var err error
	if c.View, err = p.muster.Cluster(ctx, a, id); err != nil {
		return c, err
	}
	c.Tabs, c.Compare = p.clusterTabs(a, c.View, "plan"), p.life() != nil
	for i, o := range c.View.Operations {
		if operation == 0 || o.ID == operation {
			c.Pinned = &c.View.Operations[i]
			break
		}
	}
	if c.Pinned == nil {
		if operation == 0 {
			return c, nil
		}
		return c, app.Errorf(app.ENotFound, "Cluster %q has no operation %d.", c.View.Name, operation)
	}
	if c.Steps, err = p.graph(ctx, a, c.View.ID, c.Pinned.ID); err != nil {
		return c, err
	}
	if d.kind == "" {
		d.kind = "graph"
	}
	return c, p.draw(ctx, a, &c, d)
}

// clusterHistory lists all that was asked of a cluster.
func (p *Portal) clusterHistory(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	h := clusterpage.History{Now: p.now(), View: v, Tabs: p.clusterTabs(a, v, "history"), Receipts: p.machines() != nil, Checks: p.checking() != nil, Compare: p.life() != nil}
	h.From, _ = strconv.Atoi(r.URL.Query().Get("from"))
	f := p.clusterFrame(r, "History of "+v.Name)
	p.render(w, r, http.StatusOK, operationpage.HistoryPage(f, h))
	return nil
}
