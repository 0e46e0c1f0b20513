package upkeep

import (
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/idle"
	"muster/app/image"
	"muster/app/lease"
	"muster/app/operation"
	"muster/app/pool"
	"muster/app/run"
	"muster/app/sharing"
	"muster/app/terminal"
	"muster/app/usage"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	// ExpiredClusters returns live clusters whose lease has ended before now and that are not being deleted, of all tenants.
	ExpiredClusters(ctx context.Context, now time.Time, limit int) ([]app.Cluster, error)
	FailedDeletes(ctx context.Context, now time.Time, least time.Duration, most time.Duration, limit int) ([]app.Operation, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	Deletes       *cluster.Deletes
	Idle          *idle.Service
	Schedules     *operation.Schedules
	PausedDeletes *lease.PausedDeletes
	Requests      *operation.Requests
	Backfills     *operation.Backfills
	Usages        *usage.Service
	Pools         *pool.Reconciler
	Images        *image.Reconciler
	Terminals     *terminal.Service
	Sharing       *sharing.Service
	Runs          *run.Service
}

// Service does what has to be done from time to time.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
