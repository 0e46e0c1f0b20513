package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// ProviderCheck is what a look at an account has found.
type ProviderCheck struct {
	Provider string           `json:"provider"`
	Type     string           `json:"type"`
	OK       bool             `json:"ok"` // nothing was found that keeps machines from being made
	At       time.Time        `json:"at"`
	Duration time.Duration    `json:"duration"`
	Findings []family.Finding `json:"findings"`
}

// CheckProvider looks, for admins, whether a provider of their catalog would do: its account, and every flavor and image that the catalog
// names for it. What is wrong comes first. Nothing is made or changed.
func (a *Installation) CheckProvider(ctx context.Context, actor app.Actor, name string) (ProviderCheck, error) {
	if err := actor.Authorize("CheckProvider"); err != nil {
		return ProviderCheck{}, err
	}
	spec, catalog, err := a.account(ctx, actor, name)
	if err != nil {
		return ProviderCheck{}, err
	}
	began := a.Now()
	out := ProviderCheck{Provider: spec.Name, Type: spec.Type, At: began, OK: true}
	if out.Findings, err = a.Accounts.CheckAccount(ctx, spec, NeedsOf(catalog, name)); err != nil {
		return ProviderCheck{}, err
	}
	slices.SortStableFunc(out.Findings, func(x, y family.Finding) int { return cmp.Compare(x.Rank(), y.Rank()) })
	for _, f := range out.Findings {
		out.OK = out.OK && (f.OK || f.Warning)
	}
	out.Duration = a.Now().Sub(began)
	return out, nil
}

// ProviderOffers tells admins what a provider of their catalog can make: zones, flavors with their prices, and images. EInvalid, reason
// no_offers, where the provider does not tell.
func (a *Installation) ProviderOffers(ctx context.Context, actor app.Actor, name string) (family.Offers, error) {
	if err := actor.Authorize("ProviderOffers"); err != nil {
		return family.Offers{}, err
	}
	spec, _, err := a.account(ctx, actor, name)
	if err != nil {
		return family.Offers{}, err
	}
	return a.Accounts.Offers(ctx, spec)
}

// account returns a provider of the actor's catalog with the tenant's secrets in its settings.
func (a *Installation) account(ctx context.Context, actor app.Actor, name string) (template.ProviderSpec, *template.Catalog, error) {
	catalog, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return template.ProviderSpec{}, nil, err
	}
	spec := catalog.Providers[name]
	if spec == nil {
		e := app.Errorf(app.ENotFound, "Provider %.60q doesn't exist in the catalog.", name)
		e.Hint = humanize.Suggest(name, slices.Sorted(maps.Keys(catalog.Providers)))
		return template.ProviderSpec{}, nil, e
	}
	if a.Accounts == nil {
		return template.ProviderSpec{}, nil, app.Errorf(app.EInvalid, "This server can't open provider accounts.")
	}
	out, err := a.Secrets.SecretsOf(ctx, actor.Tenant, *spec)
	return out, catalog, err
}

// NeedsOf are the flavors and images that a catalog names for a provider, each by itself, and each for itself. Those that templates of the provider
// make clusters of
// by default come first.
func NeedsOf(c *template.Catalog, provider string) family.AccountNeeds {
	needs := family.AccountNeeds{Each: true}
	var hardware, images []string
	for _, name := range slices.Sorted(maps.Keys(c.Templates)) {
		if d := c.Templates[name].Defaults; d.Provider == provider || d.Provider == "" {
			hardware, images = append(hardware, d.Hardware), append(images, d.Image)
		}
	}
	for _, name := range once(append(hardware, slices.Sorted(maps.Keys(c.Hardware))...)) {
		if h := c.Hardware[name]; h != nil {
			if f, ok := h.Providers[provider]; ok {
				needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Flavor: f})
			}
		}
	}
	for _, name := range once(append(images, slices.Sorted(maps.Keys(c.Images))...)) {
		if t := c.Images[name]; t != nil {
			if i, ok := t.Providers[provider]; ok {
				needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Image: i})
			}
		}
	}
	return needs
}

// once leaves the first of each name.
func once(names []string) (out []string) {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
