package resource

import (
	"context"
	"time"
)

// Store is what the service needs of the database.
type Store interface {
	ResourceStore

	// Of what others keep.
	Installation(ctx context.Context) (string, error)
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error

	// Blobs keeps the contents of resources; nil: none are taken. ResourceKinds are what members of families declare.
	Blobs          BlobStore
	ResourceKinds  []ResourceTypes
	ResourceLimits ResourceLimits
}

// Service keeps the archives and files that automators use.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
