package site

import (
	"context"

	"muster/app"
)

// KeyActIn is the session key of a superadmin's current tenant.
const KeyActIn = "act_in"

// actingBySession returns the actor in the session's tenant. If the tenant was deleted or the actor lost access, it's back in its own
// tenant.
func (p *Site) actingBySession(ctx context.Context, a app.Actor) (app.Actor, error) {
	tenant := p.Sessions.GetString(ctx, KeyActIn)
	if tenant == "" {
		return a, nil
	}
	there, err := p.ActingIn(ctx, a, tenant)
	switch app.CodeOf(err) {
	case "":
		return there, nil
	case app.EForbidden, app.ENotFound:
		p.Sessions.Remove(ctx, KeyActIn)
		return a, nil
	}
	return a, err
}

// tenantsFor are the tenants that the actor can switch to; none for most people.
func (p *Site) tenantsFor(ctx context.Context, a app.Actor) []string {
	if !a.May("TenantNames") {
		return nil
	}
	names, err := p.Tenants.TenantNames(ctx, a)
	if err != nil {
		return nil // the page works without them
	}
	return names
}
