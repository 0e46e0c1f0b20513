package secret

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	DeleteSecret(ctx context.Context, who app.Actor, name string, at time.Time) error
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
	Secrets(ctx context.Context, tenant string) ([]app.Secret, error)
	SetSecret(ctx context.Context, who app.Actor, name string, value []byte, at time.Time) error
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	Catalogs *catalog.Service
}

// Service keeps values that are written and never shown, and hides them in what is shown.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
