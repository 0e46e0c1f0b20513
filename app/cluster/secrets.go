package cluster

import (
	"context"
	"maps"
	"slices"

	"muster/app"
	"muster/app/secret"
)

// CheckSecretsOf refuses a request whose cluster would need secrets that the tenant does not have. Only the catalog may refer to
// secrets: who asks for a cluster gets a shell on it, and could else read any of them.
func (a *Preflight) CheckSecretsOf(ctx context.Context, tenant string, r CreateRequest, d Draft, provider string) error {
	if named := app.SecretNames(r.Config); len(named) > 0 {
		return &app.Error{Code: app.EInvalid, Field: "config", Reason: "secret", Message: "The configuration in a request can't reference secrets.",
			Hint: "Ask an admin to reference the secret in the template or a service."}
	}
	where := map[string]string{}
	note := func(place string, values ...any) {
		for _, n := range app.SecretNames(values...) {
			if where[n] == "" {
				where[n] = place
			}
		}
	}
	note("Template "+r.Template, d.Definition.Config)
	for _, name := range slices.Sorted(maps.Keys(d.Definition.Services)) {
		for _, act := range d.Definition.Services[name].Actions {
			note("Service "+name, act.Fields)
		}
	}
	c, err := a.Catalogs.CachedCatalogOf(ctx, tenant) // the layout was just made by it
	if err != nil {
		return err
	}
	maps.DeleteFunc(where, func(n, _ string) bool { return secret.IsGenerated(n) }) // each cluster has those by itself; accounts do not
	if spec := c.Providers[provider]; spec != nil {
		note("Provider "+provider, spec.Settings)
	}
	return a.Secrets.CheckSecrets(ctx, tenant, func(n string) string { return where[n] }, slices.Sorted(maps.Keys(where)))
}
