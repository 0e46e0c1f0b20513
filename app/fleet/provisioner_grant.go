package fleet

import (
	"context"
	"maps"
	"slices"

	"muster/app"
)

// AnyProvisionerGrant returns the grant of tokens that were created before grants existed: everything.
func AnyProvisionerGrant() app.ProvisionerGrant {
	return app.ProvisionerGrant{Tenants: []string{app.AllTenants}, AnyTags: true, Slots: app.MaxSlots}
}

// admit holds a registration to the grant of its token. EForbidden, reason grant, says what is more than the token allows.
func (r *registry) admit(ctx context.Context, reg Registration) (Registration, error) {
	g := r.grant
	refused := func(field, format string, args ...any) error {
		e := app.Errorf(app.EForbidden, format, args...)
		e.Reason, e.Field, e.Hint = "grant", field, "Ask a superadmin for a token that allows it: muster provisioner token create NAME --for-tenant TENANT."
		return e
	}
	if !g.AnyTags {
		if len(reg.Tags) == 0 {
			reg.Tags = maps.Clone(g.Tags)
		}
		for _, k := range slices.Sorted(maps.Keys(reg.Tags)) {
			if v, there := g.Tags[k]; !there || v != reg.Tags[k] {
				return reg, refused("tags", "The token %s does not allow the tag %s=%s.", r.token, k, reg.Tags[k])
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
		if p.Name == reg.Name && p.Host == app.Clip(reg.Host) {
			before, again = append(before, p.ID), again+p.Slots
			continue
		}
		taken += p.Slots
	}
	if taken+again+reg.Slots <= g.Slots {
		return reg, nil
	}
	if taken+reg.Slots > g.Slots {
		return reg, refused("slots", "The token %s allows %d slots, of which %d are taken, so %d more cannot be offered.", r.token, g.Slots, taken, reg.Slots)
	}
	for _, id := range before {
		if err := r.app.Store.EndProvisioner(ctx, id, app.ProvisionerLost, r.app.Now()); err != nil {
			return reg, err
		}
	}
	return reg, nil
}
