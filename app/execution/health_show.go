package execution

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
)

// noHealthChecks is said of a cluster whose template has no health policy.
const noHealthChecks = "No health checks are configured in the cluster's template."

// Health tells how a cluster and its nodes are. Where nobody looks after it, the state is unknown and Note says why.
func (a *Service) Health(ctx context.Context, actor app.Actor, cluster string) (app.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Health", cluster)
	if err != nil {
		return app.ClusterHealth{}, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return app.ClusterHealth{}, err
	}
	h, err := a.Clusters.ClusterHealth(ctx, c, nodes)
	switch {
	case err != nil:
		return app.ClusterHealth{}, err
	case h != nil:
		m, err := a.Clusters.MaskFor(ctx, actor, c)
		if err != nil {
			return app.ClusterHealth{}, err
		}
		return *appcluster.MaskHealth(m, h), nil
	case c.Status == app.ClusterDeleted:
		return app.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	return app.ClusterHealth{State: app.HealthUnknown, Nodes: []app.NodeHealth{}, Repair: app.RepairOff,
		Note: noHealthChecks}, nil
}

// CheckHealth has the next check of a cluster's health start at once instead of when it is due. What it returns is what is known before that
// check: it has ended when LookedAt is later.
func (a *Service) CheckHealth(ctx context.Context, actor app.Actor, cluster string) (app.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "CheckHealth", cluster)
	if err != nil {
		return app.ClusterHealth{}, err
	}
	if err := actor.MayChange("CheckHealth", c); err != nil {
		return app.ClusterHealth{}, err
	}
	if c.Status == app.ClusterDeleted {
		return app.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return app.ClusterHealth{}, err
	}
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err != nil {
		return app.ClusterHealth{}, err
	}
	if h == nil {
		return app.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: noHealthChecks, Hint: "Add health to the template, then upgrade the cluster."}
	}
	if why := app.Unchecked(c, len(app.LostNodes(c, nodes)) > 0); why != "" {
		return app.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: why}
	}
	if err := a.Store.CheckHealth(ctx, app.CheckRequest{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now()}); err != nil {
		return app.ClusterHealth{}, err
	}
	return a.Health(ctx, actor, c.ID)
}
