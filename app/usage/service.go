package usage

import (
	"context"
	"time"

	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/lease"
	"muster/app/policy"
)

// Store is what the service needs of the database.
type Store interface {
	CommitmentStore
	UsageStore

	// Of what others keep.
	QuotaLines(ctx context.Context, tenant string, owner string, groups []string, now time.Time) ([]policy.QuotaLine, error)
	NotifyBudgets(ctx context.Context, now time.Time) (int, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time

	Catalogs      *catalog.Service
	Clusters      *cluster.Finder
	LeaseWarnings *lease.Warnings
}

// Service counts what is used and what it costs.
type Service struct {
	Config

	money  moneyTimes
	usages layout.TTLCache[usageKey, Usage]
	aheads layout.TTLCache[aheadKey, Forecast]
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
