package cluster

import (
	"context"

	"muster/app"
)

// ClusterHealth gives how a cluster is, as far as that is known now; nil where its health isn't checked.
func (a *Service) ClusterHealth(ctx context.Context, c app.Cluster, nodes []app.Node) (*app.ClusterHealth, error) {
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err == nil && h != nil {
		h.Settle(c, nodes, a.Now())
	}
	return h, err
}
