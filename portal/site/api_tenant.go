package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// Tenancy is a power that a Muster may have: several tenants, of which superadmins may act in each.
type Tenancy interface {
	Tenants(ctx context.Context, a app.Actor) ([]app.Tenant, error)
	TenantNames(ctx context.Context, a app.Actor) ([]string, error)
	Tenant(ctx context.Context, a app.Actor, name string) (app.Tenant, error)
	// CreateTenant gives the one-time password of its first admin, where one is named.
	CreateTenant(ctx context.Context, a app.Actor, n identity.NewTenant) (app.Tenant, string, error)
	ChangeTenant(ctx context.Context, a app.Actor, name string, c app.TenantChange) (app.Tenant, error)
	// DeleteTenant is EConflict as long as anything of it may stand in a cloud.
	DeleteTenant(ctx context.Context, a app.Actor, name string) error
	// ActIn gives the actor as it acts in another tenant.
	ActIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error)
}

// Tenancy gives the use cases of tenants, or nil.
func (p *Site) Tenancy() Tenancy {
	m, _ := p.Muster.(Tenancy)
	return m
}

// ActingIn gives the actor in the tenant that a request names.
func (p *Site) ActingIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error) {
	if tenant == "" || tenant == a.Tenant {
		return a, nil
	}
	if p.Tenancy() == nil {
		return a, &app.Error{Code: app.EForbidden, Message: "There is only one tenant here."}
	}
	return p.Tenancy().ActIn(ctx, a, tenant)
}
