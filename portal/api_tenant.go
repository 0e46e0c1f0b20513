package portal

import (
	"context"
	"net/http"

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

// tenantHeader names the tenant in which a superadmin's request acts.
const tenantHeader = "Muster-Tenant"

// tenancy gives the use cases of tenants, or nil.
func (p *Portal) tenancy() Tenancy {
	m, _ := p.muster.(Tenancy)
	return m
}

// actingIn gives the actor in the tenant that a request names.
func (p *Portal) actingIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error) {
	if tenant == "" || tenant == a.Tenant {
		return a, nil
	}
	if p.tenancy() == nil {
		return a, &app.Error{Code: app.EForbidden, Message: "There is only one tenant here."}
	}
	return p.tenancy().ActIn(ctx, a, tenant)
}

// headerTenant is the tenant that a program names.
func headerTenant(r *http.Request) string { return r.Header.Get(tenantHeader) }

type apiTenantList struct {
	Body struct {
		Tenants []app.Tenant `json:"tenants"`
	}
}

func (p *Portal) apiTenantList(ctx context.Context, _ *struct{}) (*apiTenantList, error) {
	all, err := p.tenancy().Tenants(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiTenantList{}
	out.Body.Tenants = all
	return out, nil
}

type apiTenantName struct {
	Name string `path:"name" maxLength:"63" doc:"The tenant's name"`
}

type apiTenant struct{ Body app.Tenant }

func (p *Portal) apiTenantShow(ctx context.Context, in *apiTenantName) (*apiTenant, error) {
	t, err := p.tenancy().Tenant(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &apiTenant{t}, nil
}

type apiNewTenant struct {
	Body struct {
		Tenant   app.Tenant `json:"tenant"`
		Password string     `json:"password,omitempty" doc:"Of the first admin, to be changed at the first sign-in; it cannot be read again"`
	}
}

func (p *Portal) apiTenantCreate(ctx context.Context, in *struct{ Body identity.NewTenant }) (*apiNewTenant, error) {
	t, password, err := p.tenancy().CreateTenant(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiNewTenant{}
	out.Body.Tenant, out.Body.Password = t, password
	return out, nil
}

func (p *Portal) apiTenantChange(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"63" doc:"The tenant's name"`
	Body app.TenantChange
}) (*apiTenant, error) {
	t, err := p.tenancy().ChangeTenant(ctx, caller(ctx), in.Name, in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &apiTenant{t}, nil
}

func (p *Portal) apiTenantDelete(ctx context.Context, in *apiTenantName) (*deleted, error) {
	if err := p.tenancy().DeleteTenant(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return gone(in.Name), nil
}
