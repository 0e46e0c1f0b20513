package app

import (
	"context"
	"time"
)

// noHealthChecks is said of a cluster whose template has no health policy.
const noHealthChecks = "No health checks are configured in the cluster's template."

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
		Note: noHealthChecks}, nil
}

// CheckRequest is a check of a cluster's health that a user asks for, as the store takes it.
type CheckRequest struct {
	Tenant  string
	Cluster string
	Who     Actor
	Now     time.Time
}

// CheckHealth has the next check of a cluster's health start at once instead of when it is due. What it returns is what is known before that
// check: it has ended when LookedAt is later.
func (a *App) CheckHealth(ctx context.Context, actor Actor, cluster string) (ClusterHealth, error) {
	c, err := a.look(ctx, actor, "CheckHealth", cluster)
	if err != nil {
		return ClusterHealth{}, err
	}
	if err := actor.mayChange("CheckHealth", c); err != nil {
		return ClusterHealth{}, err
	}
	if c.Status == ClusterDeleted {
		return ClusterHealth{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return ClusterHealth{}, err
	}
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err != nil {
		return ClusterHealth{}, err
	}
	if h == nil {
		return ClusterHealth{}, &Error{Code: EConflict, Message: noHealthChecks, Hint: "Add health to the template, then upgrade the cluster."}
	}
	if why := unchecked(c, len(lostNodes(c, nodes)) > 0); why != "" {
		return ClusterHealth{}, &Error{Code: EConflict, Message: why}
	}
	if err := a.Store.CheckHealth(ctx, CheckRequest{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now()}); err != nil {
		return ClusterHealth{}, err
	}
	return a.Health(ctx, actor, c.ID)
}
