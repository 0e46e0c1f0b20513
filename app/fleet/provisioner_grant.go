package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/humanize"
)

// AllTenants means every tenant in ProvisionerGrant.Tenants.
const AllTenants = "*"

// Bounds of what a provisioner token may be for.
const (
	maxGrantTenants   = 1000
	defaultGrantSlots = 1000
)

// ProvisionerGrant is what provisioners that register with a token may do. It is kept with the token, on the server, so that a stolen token or host
// reaches no more than this, whatever it says of itself.
type ProvisionerGrant struct {
	// Tenants are those whose steps they may carry out; AllTenants alone is every tenant, those that come later too.
	Tenants []string `json:"tenants"`
	// Tags are those that they may have. One that says none of its own has them all.
	Tags map[string]string `json:"tags,omitempty"`
	// AnyTags lets them choose their tags. Only tokens from before there were grants have it.
	AnyTags bool `json:"any_tags,omitempty"`
	// Slots are how many steps they may carry out at the same time, all of them together; 0 when a token is created: 1,000.
	Slots int `json:"slots"`
}

// Check completes a grant for a new token; EInvalid names the field that is wrong.
func (g ProvisionerGrant) Check() (ProvisionerGrant, error) {
	g.Tenants = slices.Compact(slices.Sorted(slices.Values(g.Tenants)))
	switch {
	case len(g.Tenants) == 0:
		return g, &app.Error{Code: app.EInvalid, Field: "tenants", Message: "A provisioner token requires at least one tenant.", Hint: `Name the tenants, or use "*" (--all-tenants) for every tenant.`}
	case len(g.Tenants) > maxGrantTenants:
		return g, app.Errorf(app.ETooLarge, "A provisioner token can name at most %d tenants, not %d.", maxGrantTenants, len(g.Tenants))
	case len(g.Tenants) > 1 && slices.Contains(g.Tenants, AllTenants):
		return g, &app.Error{Code: app.EInvalid, Field: "tenants", Message: `"*" means every tenant and can't be combined with tenant names.`, Hint: "Name the tenants, or use \"*\" alone."}
	case g.Slots < 0 || g.Slots > app.MaxSlots:
		return g, &app.Error{Code: app.EInvalid, Field: "slots", Message: fmt.Sprintf("A provisioner token can allow 1 to %d slots, not %d.", app.MaxSlots, g.Slots)}
	}
	if g.Slots == 0 {
		g.Slots = defaultGrantSlots
	}
	g.AnyTags = false
	return g, CheckTags(g.Tags)
}

// only returns the tenants that a registration is limited to; nil if it is for every tenant.
func (g ProvisionerGrant) only() []string {
	if slices.Contains(g.Tenants, AllTenants) {
		return nil
	}
	return g.Tenants
}

// AnyProvisionerGrant returns the grant of tokens that were created before grants existed: everything.
func AnyProvisionerGrant() ProvisionerGrant {
	return ProvisionerGrant{Tenants: []string{AllTenants}, AnyTags: true, Slots: app.MaxSlots}
}

// admit holds a registration to the grant of its token. EForbidden, reason grant, says what is more than the token allows.
func (r *registry) admit(ctx context.Context, reg Registration) (Registration, error) {
	g := r.grant
	refused := func(field, format string, args ...any) error {
		e := app.Errorf(app.EForbidden, format, args...)
		e.Reason, e.Field, e.Hint = "grant", field, "Ask a superadmin for a suitable token: muster provisioner token create NAME --for-tenant TENANT."
		return e
	}
	if !g.AnyTags {
		if len(reg.Tags) == 0 {
			reg.Tags = maps.Clone(g.Tags)
		}
		for _, k := range slices.Sorted(maps.Keys(reg.Tags)) {
			if v, there := g.Tags[k]; !there || v != reg.Tags[k] {
				return reg, refused("tags", "Token %s doesn't allow the tag %s=%s.", r.token, k, reg.Tags[k])
			}
		}
	}
	all, err := r.app.Store.Provisioners(ctx)
	if err != nil {
		return reg, err
	}
	taken, again := 0, 0
	var before []string // of the same name on the same host: most likely it was restarted, and is not found to be gone yet
	for _, p := range all {
		if p.Token != r.token || !p.State.Alive() {
			continue
		}
		if p.Name == reg.Name && p.Host == humanize.Clip(reg.Host) {
			before, again = append(before, p.ID), again+p.Slots
			continue
		}
		taken += p.Slots
	}
	if taken+again+reg.Slots <= g.Slots {
		return reg, nil
	}
	if taken+reg.Slots > g.Slots {
		return reg, refused("slots", "Token %s allows %d slots. %d are in use, so it can't add %d.", r.token, g.Slots, taken, reg.Slots)
	}
	for _, id := range before {
		if err := r.app.Store.EndProvisioner(ctx, id, app.ProvisionerLost, r.app.Now()); err != nil {
			return reg, err
		}
	}
	return reg, nil
}
