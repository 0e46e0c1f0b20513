package app

import (
	"context"
	"time"
)

// DeleteCluster gives back every machine of a cluster. What runs on it is told to stop first. Asking again while it is
// being deleted, or after, changes nothing.
func (a *App) DeleteCluster(ctx context.Context, actor Actor, id string) (ClusterView, error) {
	c, err := a.look(ctx, actor, "DeleteCluster", id)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange("DeleteCluster", c); err != nil {
		return ClusterView{}, err
	}
	return a.delete(ctx, actor, c)
}

func (a *App) delete(ctx context.Context, actor Actor, c Cluster) (ClusterView, error) {
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	for _, o := range ops {
		// One that is paused or being stopped does not count: whoever asks now wants it gone.
		if o.Kind == OperationDelete && (o.Status == OperationWaiting || o.Status == OperationRunning || o.Status == OperationSucceeded) {
			return a.Cluster(ctx, actor, c.ID)
		}
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	r := PlanRequest{Kind: OperationDelete}
	for _, n := range nodes {
		if n.Status == NodeDeleted {
			continue // proven to be gone, by an operation before
		}
		r.Nodes = append(r.Nodes, PlanNode{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services})
	}
	plan, err := a.plan(ctx, c.Tenant, c.Provider, r)
	if err != nil {
		return ClusterView{}, err
	}
	_, err = a.Store.SubmitOperation(ctx, NewOperation{
		Operation: Operation{Tenant: actor.Tenant, Cluster: c.ID, Kind: OperationDelete, PlanHash: plan.Hash(), Requester: actor.User,
			CreatedAt: a.Now(), Expected: plan.Duration()},
		Plan: plan, Cancel: true, LeaseOver: actor.Via == ViaServer && actor.User == expirer,
	})
	if err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// Who deletes without having been asked by a person.
const (
	expirer = "lease"  // clusters whose lease has ended
	retrier = "muster" // what could not be deleted before, and what is to be rolled back by itself
)

// A delete that failed is tried again after as long as it has been going on, within these bounds, for as long as it
// takes: nobody may be looking any more, and machines cost money.
const (
	leastDeleteWait = time.Minute
	mostDeleteWait  = time.Hour
)

// tidyAtOnce is how many clusters Expire begins with at once; the next call takes the rest.
const tidyAtOnce = 100
