package site

import (
	"context"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/usage"
)

// Policies manages policies.
type Policies interface {
	PolicyList(ctx context.Context, a app.Actor) ([]apppolicy.Policy, error)
	// Policy returns all versions of a policy, newest first.
	Policy(ctx context.Context, a app.Actor, name string) ([]apppolicy.Policy, error)
	SavePolicy(ctx context.Context, a app.Actor, p apppolicy.Policy) (apppolicy.Policy, error)
	DeletePolicy(ctx context.Context, a app.Actor, name string) error
	TryPolicy(ctx context.Context, a app.Actor, t apppolicy.TrialRequest) (apppolicy.TrialResult, error)
	PolicyVariables() []apppolicy.Variable
	PolicyZone(ctx context.Context, a app.Actor) (string, error)
	SetPolicyZone(ctx context.Context, a app.Actor, zone string) error
}

// Quotas are limits for tenants, groups and users.
type Quotas interface {
	Quotas(ctx context.Context, a app.Actor) ([]apppolicy.QuotaUse, error)
	// QuotaLimits lists the same quotas without their usage, which takes no time.
	QuotaLimits(ctx context.Context, a app.Actor) ([]apppolicy.Quota, error)
	// QuotasTakeTime reports whether the tenant has quotas and so many machines that pages load their usage later. ManyMachines is about the
	// machines of all times.
	QuotasTakeTime(ctx context.Context, a app.Actor) (bool, error)
	ManyMachines(ctx context.Context, a app.Actor) (bool, error)
	// QuotaLeft returns the actor's remaining quota, with the limits.
	QuotaLeft(ctx context.Context, a app.Actor) (apppolicy.QuotaLeft, error)
	SetQuota(ctx context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error)
	SetTenantQuota(ctx context.Context, a app.Actor, l apppolicy.Limits) (apppolicy.QuotaUse, error)
	DeleteQuota(ctx context.Context, a app.Actor, scope apppolicy.QuotaScope, name string) error
}

// Usage is usage and cost, with this month's forecast.
type Usage interface {
	Usage(ctx context.Context, a app.Actor, f usage.Filter) (usage.Usage, error)
	UsageOfAll(ctx context.Context, a app.Actor, f usage.Filter) (usage.Usage, error)
	UsageLabels(ctx context.Context, a app.Actor) ([]string, error)
	UsageAhead(ctx context.Context, a app.Actor) (usage.Forecast, error)
	UsageAheadOfAll(ctx context.Context, a app.Actor) (usage.Forecast, error)
}
