package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
)

// FinderStore is what Finder needs of the database.
type FinderStore interface {
	// OpenFor returns the clusters and requests that wait for the reader: see Decides and Person.IsFor.
	OpenFor(ctx context.Context, r app.ClusterReader) (clusters []string, requests []int64, err error)
	// ReadableCluster finds a cluster that the reader may see, by id or, among live ones, by name. It sets Cluster.Access. ENotFound for all others.
	ReadableCluster(ctx context.Context, r app.ClusterReader, id string) (app.Cluster, error)
}

// FinderConfig is what Finder is created from.
type FinderConfig struct {
	Store    FinderStore
	Now      func() time.Time
	Catalogs *catalog.Service
}

// Finder finds clusters that an actor may see or use.
type Finder struct {
	FinderConfig
}

// NewFinder returns Finder on top of their needs.
func NewFinder(c FinderConfig) *Finder { return &Finder{FinderConfig: c} }

// ReaderOf is the actor as one who looks at clusters.
func (a *Finder) ReaderOf(ctx context.Context, actor app.Actor) (r *app.ClusterReader, err error) {
	r = &app.ClusterReader{Tenant: actor.Tenant, User: actor.Name(), Groups: actor.Groups, Role: actor.Role, Now: a.Now(),
		SeesAll: app.PermissionTable["Clusters"].Of(actor.Role) == app.All}
	if !r.SeesAll {
		r.Clusters, r.Requests, err = a.Store.OpenFor(ctx, *r)
	}
	return r, err
}

// AuthorizedCluster is find for those who may do such a thing.
func (a *Finder) AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error) {
	if err := actor.Authorize(useCase); err != nil {
		return app.Cluster{}, err
	}
	return a.FindCluster(ctx, actor, id)
}

// FindCluster returns a cluster that the actor may see. All others are not found, in the same words as one that does not exist.
func (a *Finder) FindCluster(ctx context.Context, actor app.Actor, id string) (app.Cluster, error) {
	reader, err := a.ReaderOf(ctx, actor)
	if err != nil {
		return app.Cluster{}, err
	}
	c, err := a.Store.ReadableCluster(ctx, *reader, id)
	if err != nil {
		return c, err
	}
	actor.Noted.Add(app.Allowance{Cluster: c.ID})
	c.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	return c, err
}
