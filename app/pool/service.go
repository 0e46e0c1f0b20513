package pool

import (
	"context"
	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"time"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	ChangePool(ctx context.Context, who app.Actor, p app.Pool, act string, now time.Time) (app.Pool, error)
	CreatePool(ctx context.Context, who app.Actor, p app.Pool) (app.Pool, error)
	DuePools(ctx context.Context, now time.Time, limit int) ([]app.Pool, error)
	EndPool(ctx context.Context, p app.Pool, now time.Time) error
	NextClusterNumber(ctx context.Context) (int64, error)
	Pool(ctx context.Context, tenant string, name string, ended bool) (app.Pool, error)
	PoolMachines(ctx context.Context, pool int64, handed int) ([]app.PoolMachine, error)
	PoolReceipt(ctx context.Context, pool int64, now time.Time) (app.PoolReceipt, error)
	PoolViews(ctx context.Context, tenant string, today time.Time) ([]app.PoolView, error)
	RestPool(ctx context.Context, p app.Pool, n *app.Notice) error
	RetirePoolMachine(ctx context.Context, n app.NewOperation) (bool, error)
	StockPool(ctx context.Context, pool int64, m app.NewPoolMachine) error
	WakePools(ctx context.Context, now time.Time) error
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	Keys  app.Keys
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *app.Catalog

	Catalogs *catalog.Service
	Clusters *cluster.Service
}

// Service keeps machines ready before they are asked for.
type Service struct {
	Config

	pools poolCatalog
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
