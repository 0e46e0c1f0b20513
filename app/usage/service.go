package usage

import (
	"context"
	"muster/app"
	"muster/app/cluster"
	"muster/app/operation"
	"time"
)

// Store is what the service needs of the database.
type Store interface {
	CommitmentStore
	UsageStore

	// Of what others keep.
	QuotaLines(ctx context.Context, tenant string, owner string, groups []string, now time.Time) ([]app.QuotaLine, error)
	TellBudgets(ctx context.Context, now time.Time) (int, error)
}

// Service counts what is used and what it costs.
type Service struct {
	*app.App
	Store Store

	clusters   *cluster.Service
	operations *operation.Service

	money  moneyTimes
	usages app.SlowAnswers[usageKey, Usage]
	aheads app.SlowAnswers[aheadKey, UsageAhead]
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, clusters *cluster.Service, operations *operation.Service) *Service {
	return &Service{App: a, Store: store, clusters: clusters, operations: operations}
}
