package app

import "context"

// DeleteCluster gives back every machine of a cluster. What runs on it is told to stop first. Asking again while it is
// being deleted, or after, changes nothing.
func (a *App) DeleteCluster(ctx context.Context, actor Actor, id string) (ClusterView, error) {
	c, err := a.find(ctx, actor, id)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange(c); err != nil {
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
		if o.Kind == OperationDelete && (!o.Status.Ended() || o.Status == OperationSucceeded) {
			return a.Cluster(ctx, actor, c.ID)
		}
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	r := PlanRequest{Kind: OperationDelete}
	for _, n := range nodes {
		r.Nodes = append(r.Nodes, PlanNode{Name: n.Name, Services: n.Services})
	}
	plan, err := a.Planner.Plan(r)
	if err != nil {
		return ClusterView{}, err
	}
	_, err = a.Store.SubmitOperation(ctx, NewOperation{
		Operation: Operation{Tenant: actor.Tenant, Cluster: c.ID, Kind: OperationDelete, PlanHash: plan.Hash(), Requester: actor.User,
			CreatedAt: a.Now(), Expected: plan.Duration()},
		Plan: plan, Cancel: true,
	})
	if err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// ResumeCluster goes on with the latest operation from the steps that failed.
func (a *App) ResumeCluster(ctx context.Context, actor Actor, id string) (ClusterView, error) {
	c, err := a.find(ctx, actor, id)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange(c); err != nil {
		return ClusterView{}, err
	}
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterView{}, err
	}
	if len(ops) == 0 || ops[0].Status != OperationFailed {
		return ClusterView{}, &Error{Code: EConflict, Message: "There is nothing to resume: the latest operation has not failed."}
	}
	if _, err := a.Store.ResumeOperation(ctx, actor.Tenant, ops[0].ID, actor.User, a.Now()); err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// expirer is who deletes clusters whose lease has ended.
const expirer = "lease"

// Expire deletes clusters whose lease has ended, of all tenants, and gives how many it began with.
func (a *App) Expire(ctx context.Context) (int, error) {
	ended, err := a.Store.ExpiredClusters(ctx, a.Now(), 100)
	if err != nil {
		return 0, err
	}
	for i, c := range ended {
		if _, err := a.delete(ctx, Actor{Tenant: c.Tenant, User: expirer, Role: RoleAdmin}, c); err != nil {
			return i, err
		}
	}
	return len(ended), nil
}
