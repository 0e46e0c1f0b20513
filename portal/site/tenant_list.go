package site

import (
	"context"

	"muster/app"
)

// KeyActIn is the tenant in which a superadmin acts, in the session.
const KeyActIn = "act_in"

// actingBySession returns the actor in the tenant that its session names. Where that is gone, or the actor may not any more, it is
// at home again.
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

// tenantsFor are the tenants between which the actor may switch; none for most people.
func (p *Site) tenantsFor(ctx context.Context, a app.Actor) []string {
	if !a.May("TenantNames") {
		return nil
	}
	names, err := p.Tenants.TenantNames(ctx, a)
	if err != nil {
		return nil // the page itself can do without
	}
	return names
}
