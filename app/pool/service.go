package pool

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/template"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	ChangePool(ctx context.Context, who app.Actor, p Pool, act string, now time.Time) (Pool, error)
	CreatePool(ctx context.Context, who app.Actor, p Pool) (Pool, error)
	DuePools(ctx context.Context, now time.Time, limit int) ([]Pool, error)
	EndPool(ctx context.Context, p Pool, now time.Time) error
	NextClusterNumber(ctx context.Context) (int64, error)
	Pool(ctx context.Context, tenant string, name string, ended bool) (Pool, error)
	PoolMachines(ctx context.Context, pool int64, handed int) ([]PoolMachine, error)
	PoolReceipt(ctx context.Context, pool int64, now time.Time) (PoolReceipt, error)
	PoolViews(ctx context.Context, tenant string, today time.Time) ([]PoolView, error)
	RestPool(ctx context.Context, p Pool, n *app.Notice) error
	RetirePoolMachine(ctx context.Context, n cluster.NewOperation) (bool, error)
	StockPool(ctx context.Context, pool int64, m NewPoolMachine) error
	WakePools(ctx context.Context, now time.Time) error
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	Keys  app.Keys
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog

	Catalogs  *catalog.Service
	Plans     *cluster.Plans
	Preflight *cluster.Preflight
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
