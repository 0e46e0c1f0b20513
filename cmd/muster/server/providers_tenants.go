package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs"
)

// TenantAccounts opens providers for jobs on whole accounts. If a provider's settings refer to secrets, each tenant has its own account, and
// the returned provider represents all of them.
type TenantAccounts struct {
	Set     *ProviderSet
	Tenants func(context.Context) ([]string, error)
	// Resolve inserts a tenant's secrets into settings; EInvalid if it doesn't have them.
	Resolve func(ctx context.Context, tenant string, spec template.ProviderSpec) (template.ProviderSpec, error)
}

var _ jobs.Providers = TenantAccounts{}

// Provider implements jobs.Providers. A tenant without the secrets can't have machines there: a secret can't be deleted while a cluster needs
// it.
func (t TenantAccounts) Provider(ctx context.Context, spec template.ProviderSpec) (family.Provider, error) {
	if !spec.HasSecrets() {
		return t.Set.Provider(ctx, spec)
	}
	if spec.Tenant != "" {
		own, err := t.Resolve(ctx, spec.Tenant, spec)
		if err != nil {
			return nil, err
		}
		return t.Set.Provider(ctx, own)
	}
	names, err := t.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	all := accounts{}
	for _, name := range names {
		own, err := t.Resolve(ctx, name, spec)
		if app.CodeOf(err) == app.EInvalid {
			continue
		}
		if err != nil {
			return nil, err
		}
		p, err := t.Set.Provider(ctx, own)
		if err != nil {
			return nil, err // a partial list would be taken for a complete one
		}
		all[name] = p
	}
	return all, nil
}

// accounts are several tenants' accounts with one provider, by tenant.
type accounts map[string]family.Provider

var (
	_ family.Provider   = accounts{}
	_ family.LateLister = accounts{}
)

func (a accounts) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	if p := a[spec.Tags[family.TagTenant]]; p != nil {
		return p.Create(ctx, spec)
	}
	return family.Machine{}, app.Errorf(app.EInvalid, "Tenant %q has no account with this provider.", spec.Tags[family.TagTenant])
}

func (a accounts) Describe(ctx context.Context, id string) (family.Machine, error) {
	_, m, err := a.find(ctx, id)
	return m, err
}

// find returns the account of a machine; ENotFound only if every account says so.
func (a accounts) find(ctx context.Context, id string) (family.Provider, family.Machine, error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(a)) {
		m, err := a[name].Describe(ctx, id)
		if err == nil {
			return a[name], m, nil
		}
		if app.CodeOf(err) != app.ENotFound {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, family.Machine{}, errors.Join(errs...)
	}
	return nil, family.Machine{}, app.Errorf(app.ENotFound, "Machine %q doesn't exist.", id)
}

// List implements family.Provider. Tenants may share an account: a machine is listed once.
func (a accounts) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	all, seen := []family.Machine{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if t := tags[family.TagTenant]; t != "" && t != name {
			continue
		}
		list, err := a[name].List(ctx, tags)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if !seen[m.ID] {
				seen[m.ID] = true
				all = append(all, m)
			}
		}
	}
	return all, nil
}

func (a accounts) Delete(ctx context.Context, id string) error {
	p, _, err := a.find(ctx, id)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return nil
	case err != nil:
		return err
	}
	return p.Delete(ctx, id)
}

func (a accounts) ListsLate() (late time.Duration) {
	for _, p := range a {
		late = max(late, family.ListsLate(p))
	}
	return late
}
