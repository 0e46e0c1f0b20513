package reconcile

import (
	"context"
	"errors"
	"time"

	"muster/app"
	"muster/app/family"
)

// inAccount names the account of a provider as a tenant has it.
type inAccount struct{ name, tenant string }

func (a inAccount) String() string { return a.name + " of tenant " + a.tenant }

// openFor opens an account as a tenant has it: where a provider's settings hold secrets, each tenant has an account of its own.
func (r *Reconciler) openFor(ctx context.Context, in inAccount) (family.Provider, error) {
	cloud, spec, err := r.open(ctx, in.name)
	if err != nil || spec.Tenant != "" || !spec.HasSecrets() {
		return cloud, err
	}
	of := *spec
	of.Tenant = in.tenant
	cloud, err = r.Providers.Provider(ctx, of)
	return cloud, r.fromHere(&of, err)
}

// errStillCopying is all that is wrong where a provider is still at work on what was asked of it: it's looked at again after the gap.
var errStillCopying = errors.New("the provider is still copying")

// perAccount does in the background, account by account, what is due: again at once where all went well, else after gap. What is what is done, for the log.
func perAccount[T any](ctx context.Context, r *Reconciler, what string, gap time.Duration, due []T, of func(T) (tenant, provider string),
	do func(ctx context.Context, in inAccount, list []T) error) {
	by := map[inAccount][]T{}
	for _, x := range due {
		tenant, provider := of(x)
		in := inAccount{r.accountOf(app.Cluster{Tenant: tenant, Provider: provider}), tenant}
		by[in] = append(by[in], x)
	}
	for in, list := range by {
		key := what + " of account " + in.String()
		if !r.due(key) {
			continue
		}
		r.begin(ctx, key, func(ctx context.Context) {
			r.later(key, time.Now().Add(gap))
			err := do(ctx, in, list)
			if err == nil {
				r.schedule(key)
			}
			if errors.Is(err, errStillCopying) {
				err = nil
			}
			if ctx.Err() == nil {
				r.say(key, err)
			}
		})
	}
}
