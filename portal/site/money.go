package site

import (
	"context"

	"muster/app"
	appoperation "muster/app/operation"
	apppolicy "muster/app/policy"
	"muster/app/usage"
)

// Money is a power that a Muster may have: quotas, leases that can be moved, and what was used. A portal without it has none
// of their pages.
type Money interface {
	Quotas(ctx context.Context, a app.Actor) ([]apppolicy.QuotaUse, error)
	// QuotaLeft tells what is left for the actor, and by which limit.
	QuotaLeft(ctx context.Context, a app.Actor) (apppolicy.QuotaLeft, error)
	SetQuota(ctx context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error)
	SetTenantQuota(ctx context.Context, a app.Actor, l apppolicy.Limits) (apppolicy.QuotaUse, error)
	DeleteQuota(ctx context.Context, a app.Actor, scope app.QuotaScope, name string) error

	ExtendLease(ctx context.Context, a app.Actor, cluster string, r app.LeaseRequest) (appoperation.LeaseOutlook, error)
	LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (appoperation.LeaseOutlook, error)
	// LeaseLink checks the link of a warning; moved tells that the end is another one by now.
	LeaseLink(ctx context.Context, a app.Actor, cluster, end, signature string) (o appoperation.LeaseOutlook, moved bool, err error)

	Usage(ctx context.Context, a app.Actor, f usage.UsageFilter) (usage.Usage, error)
	UsageOfAll(ctx context.Context, a app.Actor, f usage.UsageFilter) (usage.Usage, error)
}

// Money gives the power; nil where there is none.
func (p *Site) Money() Money {
	m, _ := p.Muster.(Money)
	return m
}
