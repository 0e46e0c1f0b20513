package cluster

import (
	"context"
	"time"

	"muster/app"
	appplan "muster/app/plan"
)

// DeleteCluster gives back every machine of a cluster. What runs on it is told to stop first. Asking again while it is
// being deleted, or after, changes nothing.
func (a *Service) DeleteCluster(ctx context.Context, actor app.Actor, id string) (ClusterView, error) {
	c, err := a.AuthorizedCluster(ctx, actor, "DeleteCluster", id)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.MayChange("DeleteCluster", c); err != nil {
		return ClusterView{}, err
	}
	return a.StartDelete(ctx, actor, c)
}

func (a *Service) StartDelete(ctx context.Context, actor app.Actor, c app.Cluster) (ClusterView, error) {
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	for _, o := range ops {
		// One that is paused or being stopped does not count: whoever asks now wants it gone.
		if o.Kind == app.OperationDelete && (o.Status == app.OperationWaiting || o.Status == app.OperationRunning || o.Status == app.OperationSucceeded) {
			return a.Cluster(ctx, actor, c.ID)
		}
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	r := appplan.PlanRequest{Kind: app.OperationDelete}
	for _, n := range nodes {
		if n.Status == app.NodeDeleted {
			continue // proven to be gone, by an operation before
		}
		r.Nodes = append(r.Nodes, appplan.PlanNode{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services})
	}
	plan, err := a.Plan(ctx, c.Tenant, c.Provider, r)
	if err != nil {
		return ClusterView{}, err
	}
	_, err = a.Store.SubmitOperation(ctx, NewOperation{
		Operation: app.Operation{Tenant: actor.Tenant, Cluster: c.ID, Kind: app.OperationDelete, PlanHash: plan.Hash(), Requester: actor.User,
			CreatedAt: a.Now(), Expected: plan.Duration()},
		Plan: plan, Cancel: true, LeaseOver: actor.Via == app.ViaServer && actor.User == app.Expirer,
	})
	if err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// A delete that failed is tried again after as long as it has been going on, within these bounds, for as long as it
// takes: nobody may be looking any more, and machines cost money.
const (
	LeastDeleteWait = time.Minute
	MostDeleteWait  = time.Hour
)

// TidyAtOnce is how many clusters Expire begins with at once; the next call takes the rest.
const TidyAtOnce = 100
