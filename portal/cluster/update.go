package cluster

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/portal/site"
)

// changePanel returns the possible changes of a cluster; nil for none.
func (p *clusterPage) changePanel(ctx context.Context, a app.Actor, v cluster.View) (*ChangePanel, error) {
	if v.Status == app.ClusterDeleted || !a.MayIn("UpdateServices", v.Cluster) {
		return nil, nil
	}
	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return nil, err
	}
	n := &Form{Catalog: c}
	panel := newChangePanel(v, c.Templates[v.Template], Addable(n, v, nil))
	panel.Use = !a.MayIn("Update", v.Cluster)
	op := (*app.Operation)(nil)
	if len(v.Operations) > 0 {
		op = &v.Operations[0]
	}
	switch {
	case v.Status == app.ClusterPending || op != nil && !op.Status.Ended():
		panel.Busy = true
		return panel, nil
	case v.Status != app.ClusterActive && v.Status != app.ClusterFailed:
		return nil, nil
	}
	if v.Size > site.SuggestSize || panel.Use {
		return panel, nil
	}
	// Suggestions get a limited time, and their errors are ignored.
	ctx, cancel := context.WithTimeout(ctx, site.SuggestTime)
	defer cancel()
	if u, err := p.Updates.PreviewUpdate(ctx, a, v.ID, cluster.Update{Kind: app.OperationUpgrade}); err == nil && !u.NoChanges {
		panel.Newer = humanize.Count(len(u.Changes), "change") + ", " + humanize.Count(u.Plan.Acts(), "step") + "."
	}
	if u, err := p.Updates.PreviewUpdate(ctx, a, v.ID, cluster.Update{Kind: app.OperationRepair}); err == nil && !u.NoChanges {
		for _, n := range u.Nodes {
			if n.Change == plan.NodeReplaced {
				panel.Unhealthy = append(panel.Unhealthy, n.Name)
			}
		}
	}
	return panel, nil
}
