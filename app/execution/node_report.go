package execution

import (
	"context"

	"muster/app"
	"muster/app/health"
)

// NodeReports tells what the nodes of a cluster, or the named one, were found to be when they were bootstrapped last. Nodes
// that were not bootstrapped so far have none. ENotFound where there is no such node.
func (a *Service) NodeReports(ctx context.Context, actor app.Actor, cluster, node string) ([]health.NodeReport, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "NodeReports", cluster)
	if err != nil {
		return nil, err
	}
	reports, err := a.Store.NodeReports(ctx, actor.Tenant, c.ID, node, health.MaxNodeReports)
	if err != nil || node == "" || len(reports) > 0 {
		return reports, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Name == node {
			return reports, nil
		}
	}
	return nil, app.Errorf(app.ENotFound, "Cluster %q has no node %q.", c.Name, node)
}
