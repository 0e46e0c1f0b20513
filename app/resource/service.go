package resource

import (
	"context"
	"muster/app"
	"time"
)

// Store is what the service needs of the database.
type Store interface {
	ResourceStore

	// Of what others keep.
	Installation(ctx context.Context) (string, error)
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
}

// Service keeps the archives and files that automators use.
type Service struct {
	*app.App
	Store Store

	// Blobs keeps the contents of resources; nil: none are taken. ResourceKinds are what members of families declare.
	Blobs          BlobStore
	ResourceKinds  []ResourceTypes
	ResourceLimits ResourceLimits
}

// New returns the service on top of its needs.
func New(a *app.App, store Store) *Service {
	return &Service{App: a, Store: store}
}
