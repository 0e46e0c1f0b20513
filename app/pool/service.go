package pool

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
)

// PoolStore keeps pools.
type PoolStore interface {
	// ChangePool writes count, age and mode, wakes the pool, and writes the audit row act. ENotFound where there is none that is live, EConflict where it
	// is being deleted.
	ChangePool(ctx context.Context, who app.Actor, p Pool, act string, now time.Time) (Pool, error)
	// CreatePool writes one, with its audit row. EConflict where a live one of the tenant has the name, or the tenant has MaxPools.
	CreatePool(ctx context.Context, who app.Actor, p Pool) (Pool, error)
	// Pool returns a live one by name, or, with ended, the one that ended last; ENotFound.
	Pool(ctx context.Context, tenant, name string, ended bool) (Pool, error)
	// PoolMachines returns those that stand, the oldest first; with handed the last so many that were handed out instead, the newest first.
	PoolMachines(ctx context.Context, pool int64, handed int) ([]Machine, error)
	PoolReceipt(ctx context.Context, pool int64, now time.Time) (Receipt, error)
	// PoolViews returns those of a tenant that are live, by name, without their machines.
	PoolViews(ctx context.Context, tenant string, today time.Time) ([]View, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store     PoolStore
	Now       func() time.Time
	Catalogs  *catalog.Service
	Preflight *cluster.Preflight
}

// Service keeps machines ready before they are asked for.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
