package providervalue

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/template"
)

// HasOwnAccount reports whether a cluster's machines are in an account of its users. That never changes.
func (a *Service) HasOwnAccount(ctx context.Context, tenant, cluster string) (bool, error) {
	if a == nil {
		return false, nil
	}
	k, err := a.Store.ProviderValues(ctx, tenant, cluster)
	if app.IsKeyLost(err) {
		return true, nil
	}
	return k != nil && k.Account, err
}

// Accounts returns the accounts of single clusters, of all tenants, for what manages accounts. One that can't be read is returned all the same, and can't be
// opened: its machines are never looked for in another account.
func (a *Service) Accounts(ctx context.Context) ([]*template.ProviderSpec, error) {
	list, err := a.Store.ProviderAccounts(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next, specs := map[string]cachedAccount{}, []*template.ProviderSpec(nil)
	for _, k := range list {
		c, err := a.Catalogs.CachedCatalogOf(ctx, k.Tenant)
		if err != nil {
			return nil, err
		}
		base := template.ProviderSpec{About: template.About{Name: k.Provider}}
		if c.Providers[k.Provider] == nil {
			spec := broken(base, k.Tenant, k.Cluster, fmt.Sprintf("Provider %s is no longer in the catalog.", k.Provider))
			specs = append(specs, &spec)
			continue
		}
		base = *c.Providers[k.Provider]
		known, is := a.accounts[k.Cluster]
		if !is || !known.at.Equal(k.ChangedAt) {
			read, err := a.Store.ProviderValues(ctx, k.Tenant, k.Cluster)
			if err != nil || read == nil {
				spec := broken(base, k.Tenant, k.Cluster, "Its credentials can't be read.")
				specs = append(specs, &spec)
				continue
			}
			known = cachedAccount{read.ChangedAt, read.Values}
		}
		next[k.Cluster] = known
		spec := a.overlay(base, k.Tenant, k.Cluster, known.values)
		if spec.Own.Cluster == "" {
			spec = broken(base, k.Tenant, k.Cluster, "The provider's type has changed.")
		}
		specs = append(specs, &spec)
	}
	a.accounts = next
	return specs, nil
}
