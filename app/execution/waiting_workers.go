package execution

import (
	"context"

	"muster/app"
)

// workforce returns what the tenant has of workers for steps of a provider, "" for any; nil where that is not known.
func (a *Waits) workforce(ctx context.Context, tenant, provider string) *WorkerCount {
	if a.Workers != nil {
		if n, err := a.Workers.Workforce(ctx, tenant); err == nil {
			return &n
		}
		return nil
	}
	if !a.Provisioned {
		return nil
	}
	all, err := a.Store.Provisioners(ctx)
	if err != nil {
		return nil
	}
	c, err := a.Catalogs.CachedCatalogOf(ctx, tenant)
	if err != nil {
		return nil
	}
	spec := c.Providers[provider]
	n := &WorkerCount{}
	for _, p := range all {
		if !p.State.Alive() || !p.May(tenant) || spec != nil && !app.HasTags(p.Tags, spec.Provisioner) {
			continue
		}
		for _, t := range p.Tenants {
			if t.Tenant == tenant && t.Slots > 0 {
				n.Workers++
				n.Slots += t.Slots
			}
		}
	}
	if n.Slots > 0 {
		return n
	}
	n.Lacks = "The registered provisioners have no slots for this tenant yet."
	if e := app.AsError(a.Preflight.CheckProvisioner(ctx, tenant, spec)); e != nil && e.Reason == "no_provisioner" {
		n.Lacks = e.Message + " " + e.Hint
	}
	return n
}
