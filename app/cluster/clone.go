package cluster

import (
	"context"
	"strings"

	"muster/app"
	"muster/app/catalog"
)

// PreviewClone works out what a clone of a cluster would be. Nothing is accepted or written.
func (a *Creates) PreviewClone(ctx context.Context, actor app.Actor, cluster, name string) (Preview, error) {
	r, err := a.cloned(ctx, actor, "PreviewClone", cluster, name)
	if err != nil {
		return Preview{}, err
	}
	return a.Preview(ctx, actor, r)
}

// CloneCluster asks for a cluster like another one, with all of its values, under another name and for the one who asks. It is worked
// out from the catalog as it is now, and goes the way of any request: policies, quotas, approvals. See Ask for planHash; the answer
// has the id of the cluster, as that of SubmitRequest.
func (a *Creates) CloneCluster(ctx context.Context, actor app.Actor, cluster, name, planHash string) (Answer, error) {
	ctx = catalog.HoldCatalog(ctx)
	r, err := a.cloned(ctx, actor, "CloneCluster", cluster, name)
	if err != nil {
		return Answer{}, err
	}
	r.PlanHash = planHash
	return a.SubmitRequest(ctx, actor, r)
}

func (a *Creates) cloned(ctx context.Context, actor app.Actor, useCase, cluster, name string) (CreateRequest, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, useCase, cluster)
	if err != nil {
		return CreateRequest{}, err
	}
	if err := actor.MayChange(useCase, c); err != nil { // its configuration is not everyone's to have
		return CreateRequest{}, err
	}
	name = strings.TrimSpace(name)
	if err := app.CheckClusterName(name); err != nil {
		return CreateRequest{}, err
	}
	e, err := a.Specs.export(ctx, c)
	if err != nil {
		return CreateRequest{}, err
	}
	e.Spec.Name = name
	return e.Spec.Request()
}
