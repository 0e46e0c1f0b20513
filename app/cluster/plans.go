package cluster

import (
	"context"
	"time"

	"muster/app/catalog"
	appplan "muster/app/plan"
	"muster/app/resource"
	"muster/app/webhook"
)

// PlanStore is what Plans needs of the database.
type PlanStore interface {
	Hooks(ctx context.Context, tenant string) ([]webhook.Hook, error)
	DurationStats(ctx context.Context, kinds []appplan.DurationKey) (appplan.DurationStatsByKey, error)
	PoolStock(ctx context.Context, tenant string, shapes []string, now time.Time) ([]PoolStocked, error)
}

// PlansConfig is what Plans is created from.
type PlansConfig struct {
	Store    PlanStore
	Planner  appplan.Planner
	Now      func() time.Time
	Catalogs *catalog.Service
}

// Plans orders the steps of an operation, by how long they took before, and finds machines of pools for it.
type Plans struct {
	PlansConfig
}

// NewPlans returns Plans on top of their needs.
func NewPlans(c PlansConfig) *Plans { return &Plans{PlansConfig: c} }

// Plan has the work of an operation on a cluster ordered, with what is known of how long it takes.
func (a *Plans) Plan(ctx context.Context, tenant, provider string, r appplan.Request) (appplan.Plan, error) {
	r, err := a.located(ctx, tenant, provider, r)
	if err != nil {
		return appplan.Plan{}, err
	}
	if r.DurationStats, err = a.Store.DurationStats(ctx, r.DurationKeys()); err != nil {
		return appplan.Plan{}, err
	}
	plan, err := a.Planner.Plan(r)
	plan.Resources, plan.Fallbacks = resource.ResourcesOf(r.Services), r.FallbacksOf()
	return plan, err
}

func (a *Plans) located(ctx context.Context, tenant, provider string, r appplan.Request) (appplan.Request, error) {
	r.Tenant, r.Provider = tenant, provider
	c, err := a.Catalogs.CachedCatalogOf(ctx, tenant)
	if err == nil && c.Providers[provider] != nil {
		r.ProviderType = c.Providers[provider].Type
	}
	return r, err
}

// IsPlan reports whether a plan that was just made is the one that was shown. Hashes from before durations were learned have the
// guesses of that time in them: such a one is compared with the same plan by guesses.
func (a *Plans) IsPlan(plan appplan.Plan, r appplan.Request, hash string) (bool, error) {
	if plan.Hash() == hash {
		return true, nil
	}
	r.DurationStats = nil
	guessed, err := a.Planner.Plan(r)
	return err == nil && guessed.RankedHash() == hash, err
}

// ErrOr returns the error, or another one where there is none.
func ErrOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
