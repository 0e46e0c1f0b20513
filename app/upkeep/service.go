package upkeep

import (
	"context"
	"muster/app"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/pool"
	"muster/app/usage"
	"time"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	ExpiredClusters(ctx context.Context, now time.Time, limit int) ([]app.Cluster, error)
	FailedDeletes(ctx context.Context, now time.Time, least time.Duration, most time.Duration, limit int) ([]app.Operation, error)
}

// Service does what has to be done from time to time.
type Service struct {
	*app.App
	Store Store

	clusters   *cluster.Service
	operations *operation.Service
	usages     *usage.Service
	pools      *pool.Service
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, clusters *cluster.Service, operations *operation.Service, usages *usage.Service, pools *pool.Service) *Service {
	return &Service{App: a, Store: store, clusters: clusters, operations: operations, usages: usages, pools: pools}
}
