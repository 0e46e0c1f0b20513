package cluster

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	planpage "muster/portal/plan"
	"muster/portal/site"
)

// draw prepares the view of the plan that a page shows.
func (p *clusterPage) draw(ctx context.Context, a app.Actor, c *Show, d site.Drawn) (err error) {
	op := c.PlanOperation()
	if op == nil {
		return nil
	}
	c.GanttSpan = d.Span
	if d.Kind == "timeline" {
		if c.Tries, err = p.tries(ctx, a, c, d.From); err != nil {
			return err
		}
	}
	c.draw(d.Kind, *op, d.From)
	return nil
}

// tries returns the earlier attempts of steps, as far as their logs show them.
func (p *clusterPage) tries(ctx context.Context, a app.Actor, c *Show, from int) (planpage.Tries, error) {
	nodes, _, _ := planpage.GanttNodes(c.Steps, from)
	shown := map[string]bool{}
	for _, n := range nodes {
		shown[n] = true
	}
	out := planpage.Tries{}
	for _, s := range c.Steps {
		if s.Attempt < 2 || s.Join || !shown[s.Node] || len(out) == site.TriedShown {
			continue
		}
		lines, err := p.Feed.Logs(ctx, a, c.View.ID, cluster.LogFilter{Operation: s.Operation, Step: s.ID, Limit: site.TriedLines})
		if err != nil {
			return nil, err
		}
		out[s.Index] = planpage.TriesFromLog(s, lines)
	}
	return out, nil
}

// ReadOperation reads all that the page of an operation shows; operation 0 is the latest.
func (p *clusterPage) ReadOperation(ctx context.Context, a app.Actor, id string, operation int64, d site.Drawn) (Show, error) {
	c := Show{Now: p.Now(), Actor: a}
	var err error
	if c.View, err = p.Clusters.Cluster(ctx, a, id); err != nil {
		return c, err
	}
	c.Tabs = p.ClusterTabs(a, c.View, "plan")
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
		return c, app.Errorf(app.ENotFound, "Cluster %q doesn't have an operation %d.", c.View.Name, operation)
	}
	if c.Steps, err = p.Graph(ctx, a, c.View.ID, c.Pinned.ID); err != nil {
		return c, err
	}
	if d.Kind == "" {
		d.Kind = "graph"
	}
	return c, p.draw(ctx, a, &c, d)
}
