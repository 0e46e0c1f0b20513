package app

import "context"

// Health tells how a cluster and its nodes are. Where nobody looks after it, the state is unknown and Note says why.
func (a *App) Health(ctx context.Context, actor Actor, cluster string) (ClusterHealth, error) {
	c, err := a.look(ctx, actor, "Health", cluster)
	if err != nil {
		return ClusterHealth{}, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterHealth{}, err
	}
	h, err := a.clusterHealth(ctx, c, nodes)
	switch {
	case err != nil:
		return ClusterHealth{}, err
	case h != nil:
		m, err := a.maskFor(ctx, actor, c)
		if err != nil {
			return ClusterHealth{}, err
		}
		return *maskHealth(m, h), nil
	case c.Status == ClusterDeleted:
		return ClusterHealth{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	return ClusterHealth{State: HealthUnknown, Nodes: []NodeHealth{}, Repair: RepairOff,
		Note: "Nobody looks after this cluster: its template says nothing of health."}, nil
}
