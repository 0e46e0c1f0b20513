package label

import (
	"context"
	"time"

	"muster/app"
)

// Store is what the service needs of the database.
type Store interface {
	// LabelCluster applies a change to a live cluster as it is then, and writes an event and the audit, unless nothing changes. EInvalid as
	// Change.Apply says.
	LabelCluster(ctx context.Context, who app.Actor, cluster string, c Change, rules *Rules, at time.Time) (app.Cluster, error)
}

// Config is what a service is created from.
type Config struct {
	Store Store
	Now   func() time.Time
	// Clusters finds a cluster that the actor may see.
	Clusters interface {
		AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, cluster string) (app.Cluster, error)
	}
	// Rules returns the rules of a template as it is today; nil where it has none, or there is no such template any more.
	Rules func(ctx context.Context, tenant, template string) (*Rules, error)
}

// Service changes what describes clusters.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{c} }

// LabelCluster changes the description and labels of a cluster. New machines carry the new labels as tags; those that exist keep theirs.
func (a *Service) LabelCluster(ctx context.Context, actor app.Actor, cluster string, change Change) (app.Cluster, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "LabelCluster", cluster)
	if err != nil {
		return app.Cluster{}, err
	}
	if err := actor.MayChange("LabelCluster", c); err != nil {
		return app.Cluster{}, err
	}
	if err := change.Check(); err != nil {
		return app.Cluster{}, err
	}
	if c.Status == app.ClusterDeleted {
		return app.Cluster{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	rules, err := a.Rules(ctx, c.Tenant, c.Template)
	if err != nil {
		return app.Cluster{}, err
	}
	after, err := a.Store.LabelCluster(ctx, actor, c.ID, change, rules, a.Now())
	after.Access = c.Access
	return after, err
}
