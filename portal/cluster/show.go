package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// How many log lines a page starts with, and how much of failures it shows.
const (
	logTail      = 100
	failureTail  = 8
	failureShown = 3
)

// clusterPage is the page of one cluster, with its live parts.
type clusterPage struct {
	*site.Site

	looks site.SharedRead[*sharedLook]       // at clusters, by person
	facts site.SharedRead[site.ClusterFacts] // of clusters, by role
	logs  site.SharedRead[[]app.LogLine]     // that pages follow, by role
}

func (p *clusterPage) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}", p.Show),
		site.Show("/clusters/{id}/live", p.Live).Stream(),
		site.Show("/clusters/{id}/waiting", p.Waiting),
	}
}

func (p *clusterPage) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}", p.APIShow, site.About("Show a cluster")),
	}
}

func (p *clusterPage) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.ReadCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	c.Node, c.Step = q.Get("node"), q.Get("step")
	c.NodesFrom, _ = strconv.Atoi(q.Get("from"))
	c.Log, err = p.Feed.Logs(r.Context(), a, c.View.ID, cluster.LogFilter{Node: c.Node, Step: c.Step, Tail: true, Limit: logTail})
	if err != nil {
		return err
	}
	if err := p.draw(r.Context(), a, &c, site.DrawnBy(q)); err != nil {
		return err
	}
	c.Opened = q.Get("plan") != ""
	if c.Have, err = Digests(r.Context(), c); err != nil {
		return err
	}
	f := p.ClusterFrame(r, c.View.Name)
	if c.Running() && len(c.ManualSteps) == 0 { // a reload would lose what someone types
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, ShowPage(f, c))
	return nil
}

// ReadCluster reads all that the page shows except its log.
func (p *clusterPage) ReadCluster(ctx context.Context, a app.Actor, id string) (Show, error) {
	return p.readClusterSince(ctx, a, id, 0)
}

// readClusterSince is ReadCluster for an open page, which needs the state of event since or later. Shared data may have been
// read for other pages. 0 reads everything now.
func (p *clusterPage) readClusterSince(ctx context.Context, a app.Actor, id string, since int64) (Show, error) {
	c := Show{Now: p.Now(), Actor: a, Apps: p.AppsDomain != ""}
	var err error
	if c.View, err = p.Clusters.Cluster(ctx, a, id); err != nil {
		return c, err
	}
	if c.Places, err = p.Creates.Places(ctx, a, c.View.ID); err != nil {
		return c, err
	}
	if err := p.readKept(ctx, a, &c); err != nil {
		return c, err
	}
	c.Tabs = p.ClusterTabs(a, c.View, "overview")
	if c.View.Status != app.ClusterDeleted {
		o, err := p.Leases.LeaseOutlook(ctx, a, c.View.ID)
		if err != nil {
			return c, err
		}
		use, err := p.Idle.ClusterIdle(ctx, a, c.View.ID)
		if err != nil {
			return c, err
		}
		c.Idle = &use
		outputs, err := p.Outputs.ClusterOutputs(ctx, a, c.View.ID)
		if err != nil && !app.IsKeyLost(err) {
			return c, err
		}
		c.Outputs = &outputs
		c.Lease = &LeaseBox{Now: c.Now, Outlook: o, May: a.MayIn("ExtendLease", c.View.Cluster), Admin: a.MayIn("ExtendLease", app.Cluster{}), Cost: c.View.CostPerHour, Currency: c.View.Currency}
	}
	if c.View.KeptFrom == "" {
		if c.Change, err = p.changePanel(ctx, a, c.View); err != nil {
			return c, err
		}
	}
	catalog, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return c, err
	}
	c.Services = newServiceLines(c.View, catalog, site.TitlesOf(catalog))
	op := c.Operation()
	if op == nil {
		return c, nil
	}
	if op.Status == app.OperationRunning {
		if c.ManualSteps, err = manualStepsOf(p.Site, ctx, a, c.View.ID); err != nil {
			return c, err
		}
	}
	facts, err := p.clusterFacts(ctx, a, id, *op, since)
	if err != nil {
		return c, err
	}
	c.Steps, c.Waiting = facts.Steps, facts.Waiting
	if c.View.Status != app.ClusterFailed && !c.Can(app.ActRetryNode) {
		return c, nil
	}
	said := cluster.RepeatedErrors{}
	for _, s := range c.Steps {
		if s.State != app.StepFailed || len(c.Failures) == failureShown {
			continue
		}
		lines, err := p.Feed.Logs(ctx, a, id, cluster.LogFilter{Operation: op.ID, Step: s.ID, Tail: true, Limit: failureTail})
		if err != nil {
			return c, err
		}
		s.Error = said.Say(page.StepWords(s.Node, s.Action, s.Service), s.Error)
		c.Failures = append(c.Failures, Failure{Step: s, Lines: lines})
	}
	return c, nil
}

// readKept reads which failed machines are kept of the cluster, or of a kept one who reaches it.
func (p *clusterPage) readKept(ctx context.Context, a app.Actor, c *Show) (err error) {
	if c.View.KeptFrom == "" {
		c.Kept, err = p.Kept.KeptMachines(ctx, a, c.View.ID)
		return err
	}
	all, err := p.Kept.KeptMachines(ctx, a, "")
	for _, m := range all {
		if m.ID == c.View.ID {
			c.Isolation = m.Isolation
			c.UseAgain = !m.FromDeleted && a.MayIn("DeleteCluster", m.Cluster)
		}
	}
	return err
}

// clusterFacts reads the steps of a cluster's operation, and why they wait.
func (p *clusterPage) clusterFacts(ctx context.Context, a app.Actor, id string, op app.Operation, since int64) (site.ClusterFacts, error) {
	read := func(ctx context.Context) (f site.ClusterFacts, err error) {
		if f.Steps, err = p.Graph(ctx, a, id, op.ID); err != nil {
			return f, err
		}
		if !op.Status.Ended() && op.Status != app.OperationCancelling {
			// Only the counts are read, as clusters can be very large.
			f.Waiting, err = p.Queues.Waiting(ctx, a, id, execution.WaitingFilter{Limit: 1})
		}
		return f, err
	}
	if since == 0 {
		return read(ctx)
	}
	f, _, err := p.facts.Get(ctx, fmt.Sprintf("%q %q %q %d %s", a.Tenant, a.Role, id, op.ID, op.Status), since, read)
	return f, err
}
