package chat

import (
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
)

// Store is what the service needs of the database.
type Store interface {
	ChatFaceStore
	ChatStore

	// Of what others keep.
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	Identity(ctx context.Context, kind string, external string) (identity.Identity, identity.User, error)
	Logs(ctx context.Context, tenant string, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	Request(ctx context.Context, tenant string, id int64) (cluster.Request, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
	Unfinished(ctx context.Context, tenant string, operation int64) (cluster.Unfinished, error)
	View(ctx context.Context, tenant string, id string) (cluster.ClusterView, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	Masks *cluster.Masks
}

// Service serves chat workspaces and their channels.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
