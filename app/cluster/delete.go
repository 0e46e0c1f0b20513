package cluster

import (
	"context"
	"time"

	"muster/app"
	appplan "muster/app/plan"
	"muster/app/template"
)

// DeleteStore is what Deletes needs of the database.
type DeleteStore interface {
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	SubmitOperation(ctx context.Context, n NewOperation) (app.Operation, error)
	ChooseVolumes(ctx context.Context, who app.Actor, cluster string, c template.VolumeChoice, now time.Time) error
}

// DeletesConfig is what Deletes is created from.
type DeletesConfig struct {
	Store    DeleteStore
	Now      func() time.Time
	Clusters *Finder
	Plans    *Plans
	Views    *Views
}

// Deletes deletes clusters.
type Deletes struct {
	DeletesConfig
}

// NewDeletes returns Deletes on top of their needs.
func NewDeletes(c DeletesConfig) *Deletes { return &Deletes{DeletesConfig: c} }

// DeleteCluster returns every machine of a cluster. What runs on it is stopped first. Asking again while it is
// being deleted, or after, changes nothing.
func (a *Deletes) DeleteCluster(ctx context.Context, actor app.Actor, id string) (View, error) {
	return a.DeleteClusterWith(ctx, actor, id, "")
}

// DeleteClusterWith is DeleteCluster with what happens to the cluster's volumes; "" leaves that to each.
func (a *Deletes) DeleteClusterWith(ctx context.Context, actor app.Actor, id string, v template.VolumeChoice) (View, error) {
	if err := v.Check(); err != nil {
		return View{}, err
	}
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "DeleteCluster", id)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("DeleteCluster", c); err != nil {
		return View{}, err
	}
	if v != "" {
		if err := actor.MayChange("DeleteClusterWith", c); err != nil {
			return View{}, err
		}
	}
	return a.start(ctx, actor, c, v)
}

func (a *Deletes) StartDelete(ctx context.Context, actor app.Actor, c app.Cluster) (View, error) {
	return a.start(ctx, actor, c, "")
}

func (a *Deletes) start(ctx context.Context, actor app.Actor, c app.Cluster, v template.VolumeChoice) (View, error) {
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return View{}, err
	}
	for _, o := range ops {
		// One that is paused or being stopped does not count: a new request wants it deleted.
		if o.Kind == app.OperationDelete && (o.Status == app.OperationWaiting || o.Status == app.OperationRunning || o.Status == app.OperationSucceeded) {
			if v != "" && o.Status != app.OperationSucceeded {
				if err := a.Store.ChooseVolumes(ctx, actor, c.ID, v, a.Now()); err != nil {
					return View{}, err
				}
			}
			return a.Views.Cluster(ctx, actor, c.ID)
		}
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return View{}, err
	}
	r := appplan.Request{Kind: app.OperationDelete}
	for _, n := range nodes {
		if n.Status == app.NodeDeleted {
			continue // proven to be gone, by an operation before
		}
		r.Nodes = append(r.Nodes, appplan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services})
	}
	plan, err := a.Plans.Plan(ctx, c.Tenant, c.Provider, r)
	if err != nil {
		return View{}, err
	}
	var idle *IdleEnd
	if actor.Via == app.ViaServer && actor.User == app.IdleUser {
		idle = &IdleEnd{}
	}
	_, err = a.Store.SubmitOperation(ctx, NewOperation{
		Operation: app.Operation{Tenant: actor.Tenant, Cluster: c.ID, Kind: app.OperationDelete, PlanHash: plan.Hash(), Requester: actor.User,
			CreatedAt: a.Now(), Expected: plan.Duration()},
		Plan: plan, Cancel: true, Volumes: v, LeaseOver: actor.Via == app.ViaServer && actor.User == app.Expirer, Idle: idle,
	})
	if err != nil {
		return View{}, err
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}

// A delete that failed is tried again after as long as it has taken so far, within these bounds, for as long as it
// takes: no one may be looking any more, and machines cost money.
const (
	LeastDeleteWait = time.Minute
	MostDeleteWait  = time.Hour
)

// TidyAtOnce is how many clusters Expire begins with at once; the next call takes the rest.
const TidyAtOnce = 100
