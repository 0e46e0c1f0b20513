package cluster

import (
	"context"

	"muster/app"
	"muster/app/health"
)

// CanCheckHealth reports whether CheckHealth would start a check of the cluster.
func (v View) CanCheckHealth() bool {
	return v.Health != nil && v.Status != app.ClusterDeleted && health.Unchecked(v.Cluster, len(health.LostNodes(v.Cluster, v.Nodes)) > 0) == ""
}

// ClusterHealth returns how a cluster is, as far as that is known now; nil where its health isn't checked.
func (a *Views) ClusterHealth(ctx context.Context, c app.Cluster, nodes []app.Node) (*health.ClusterHealth, error) {
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err == nil && h != nil {
		h.Settle(c, nodes, a.Now())
	}
	return h, err
}
