package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/fleet"
)

// Provisioners are the processes that run workers.
type Provisioners part

// List lists provisioners.
func (c *Provisioners) List(ctx context.Context) ([]app.Provisioner, error) {
	var out struct {
		Provisioners []app.Provisioner `json:"provisioners"`
	}
	err := c.client.CallInto(ctx, "/provisioners", nil, &out)
	return out.Provisioners, err
}

// Show returns a provisioner by its ID, or its name.
func (c *Provisioners) Show(ctx context.Context, id string) (fleet.ProvisionerDetail, error) {
	var out fleet.ProvisionerDetail
	err := c.client.CallInto(ctx, "/provisioners/"+url.PathEscape(id), nil, &out)
	return out, err
}

// Drain drains the provisioners of a name, and returns their number.
func (c *Provisioners) Drain(ctx context.Context, name string) (int, error) {
	var out struct {
		Draining int `json:"draining"`
	}
	err := c.client.Call(ctx, http.MethodPost, "/provisioners/"+url.PathEscape(name)+"/drain", nil, nil, &out)
	return out.Draining, err
}

// ProvisionerTokens let provisioners register.
type ProvisionerTokens part

// List lists provisioner tokens.
func (c *ProvisionerTokens) List(ctx context.Context) ([]fleet.ProvisionerToken, error) {
	var out struct {
		Tokens []fleet.ProvisionerToken `json:"tokens"`
	}
	err := c.client.CallInto(ctx, "/provisioner-tokens", nil, &out)
	return out.Tokens, err
}

// Create creates a token with a grant; it's returned only once.
func (c *ProvisionerTokens) Create(ctx context.Context, name string, grant fleet.ProvisionerGrant) (string, error) {
	var out struct {
		Token string `json:"token"`
	}
	in := map[string]any{"name": name, "tenants": grant.Tenants, "tags": grant.Tags, "slots": grant.Slots}
	err := c.client.Call(ctx, http.MethodPost, "/provisioner-tokens", nil, in, &out)
	return out.Token, err
}

// Revoke revokes a token.
func (c *ProvisionerTokens) Revoke(ctx context.Context, name string) error {
	var out struct{}
	return c.client.Call(ctx, http.MethodDelete, "/provisioner-tokens/"+url.PathEscape(name), nil, nil, &out)
}
