package client

import (
	"context"
	"muster/app/identity"
	"net/http"
	"net/url"
)

// Tenants are the tenants of an installation, for superadmins.
type Tenants part

// List lists tenants.
func (c *Tenants) List(ctx context.Context) ([]identity.Tenant, error) {
	var out struct{ Tenants []identity.Tenant }
	err := c.client.CallInto(ctx, "/tenants", nil, &out)
	return out.Tenants, err
}

// Get returns a tenant.
func (c *Tenants) Get(ctx context.Context, name string) (t identity.Tenant, err error) {
	err = c.client.CallInto(ctx, "/tenants/"+url.PathEscape(name), nil, &t)
	return t, err
}

// MadeTenant is a created tenant.
type MadeTenant struct {
	Tenant   identity.Tenant `json:"tenant"`
	Password string          `json:"password,omitempty"`
}

// Create creates a tenant with its first admin.
func (c *Tenants) Create(ctx context.Context, n identity.NewTenant) (m MadeTenant, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/tenants", nil, n, &m)
	return m, err
}

// Change updates a tenant's description or slots.
func (c *Tenants) Change(ctx context.Context, name string, change identity.TenantChange) (t identity.Tenant, err error) {
	err = c.client.Call(ctx, http.MethodPatch, "/tenants/"+url.PathEscape(name), nil, change, &t)
	return t, err
}

// Delete deletes a tenant that has nothing left in any cloud.
func (c *Tenants) Delete(ctx context.Context, name string) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodDelete, "/tenants/"+url.PathEscape(name), nil, nil, &out)
}
