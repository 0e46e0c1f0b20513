package execution

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/health"
	"muster/app/template"
)

// CheckRequest is a check of a cluster's health that a user asks for, as the store takes it.
type CheckRequest struct {
	Tenant  string
	Cluster string
	Who     app.Actor
	Now     time.Time
}

// noHealthChecks is said of a cluster whose template has no health policy.
const noHealthChecks = "No health checks are configured in the cluster's template."

// Health tells how a cluster and its nodes are. Where nobody looks after it, the state is unknown and Note says why.
func (a *Service) Health(ctx context.Context, actor app.Actor, cluster string) (health.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Health", cluster)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	h, err := a.Views.ClusterHealth(ctx, c, nodes)
	switch {
	case err != nil:
		return health.ClusterHealth{}, err
	case h != nil:
		m, err := a.Masks.MaskFor(ctx, actor, c)
		if err != nil {
			return health.ClusterHealth{}, err
		}
		return *appcluster.MaskHealth(m, h), nil
	case c.Status == app.ClusterDeleted:
		return health.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	return health.ClusterHealth{State: health.HealthUnknown, Nodes: []health.NodeHealth{}, Repair: template.RepairOff,
		Note: noHealthChecks}, nil
}

// CheckHealth has the next check of a cluster's health start at once instead of when it is due. What it returns is what is known before that
// check: it has ended when LookedAt is later.
func (a *Service) CheckHealth(ctx context.Context, actor app.Actor, cluster string) (health.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "CheckHealth", cluster)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	if err := actor.MayChange("CheckHealth", c); err != nil {
		return health.ClusterHealth{}, err
	}
	if c.Status == app.ClusterDeleted {
		return health.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	if h == nil {
		return health.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: noHealthChecks, Hint: "Add health to the template, then upgrade the cluster."}
	}
	if why := health.Unchecked(c, len(health.LostNodes(c, nodes)) > 0); why != "" {
		return health.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: why}
	}
	if err := a.Store.CheckHealth(ctx, CheckRequest{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now()}); err != nil {
		return health.ClusterHealth{}, err
	}
	return a.Health(ctx, actor, c.ID)
}
