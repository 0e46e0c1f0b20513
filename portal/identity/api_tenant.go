package identity

import (
	"context"
	"net/http"

	"muster/app/identity"
	"muster/portal/site"
)

// tenantHeader names the tenant in which a superadmin's request acts.
const tenantHeader = "Muster-Tenant"

// HeaderTenant is the tenant that a request names.
func HeaderTenant(r *http.Request) string { return r.Header.Get(tenantHeader) }

type apiTenantList struct {
	Body struct {
		Tenants []identity.Tenant `json:"tenants"`
	}
}

func (p *tenants) APIList(ctx context.Context, _ *struct{}) (*apiTenantList, error) {
	all, err := p.Tenants.Tenants(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiTenantList{}
	out.Body.Tenants = all
	return out, nil
}

type apiTenantName struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the tenant"`
}

type apiTenant struct{ Body identity.Tenant }

func (p *tenants) APIShow(ctx context.Context, in *apiTenantName) (*apiTenant, error) {
	t, err := p.Tenants.Tenant(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &apiTenant{t}, nil
}

type apiNewTenant struct {
	Body struct {
		Tenant   identity.Tenant `json:"tenant"`
		Password string          `json:"password,omitempty" doc:"One-time password of the first admin, shown only here and changed at first sign-in"`
	}
}

func (p *tenants) APICreate(ctx context.Context, in *struct{ Body identity.NewTenant }) (*apiNewTenant, error) {
	t, password, err := p.Tenants.CreateTenant(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiNewTenant{}
	out.Body.Tenant, out.Body.Password = t, password
	return out, nil
}

func (p *tenants) APIChange(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the tenant"`
	Body identity.TenantChange
}) (*apiTenant, error) {
	t, err := p.Tenants.ChangeTenant(ctx, site.Caller(ctx), in.Name, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &apiTenant{t}, nil
}

func (p *tenants) APIDelete(ctx context.Context, in *apiTenantName) (*deleted, error) {
	if err := p.Tenants.DeleteTenant(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return gone(in.Name), nil
}
