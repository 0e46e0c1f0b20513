package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/fleet"
)

// Provisioners lists the hosts that run workers.
func (c *Client) Provisioners(ctx context.Context) ([]app.Provisioner, error) {
	var out struct {
		Provisioners []app.Provisioner `json:"provisioners"`
	}
	err := c.CallInto(ctx, "/provisioners", nil, &out)
	return out.Provisioners, err
}

// DrainProvisioner has those of a name end what they have, and tells how many that are.
func (c *Client) DrainProvisioner(ctx context.Context, name string) (int, error) {
	var out struct {
		Draining int `json:"draining"`
	}
	err := c.Call(ctx, http.MethodPost, "/provisioners/"+url.PathEscape(name)+"/drain", nil, nil, &out)
	return out.Draining, err
}

// ProvisionerTokens lists the tokens with which provisioners register.
func (c *Client) ProvisionerTokens(ctx context.Context) ([]fleet.ProvisionerToken, error) {
	var out struct {
		Tokens []fleet.ProvisionerToken `json:"tokens"`
	}
	err := c.CallInto(ctx, "/provisioner-tokens", nil, &out)
	return out.Tokens, err
}

// CreateProvisionerToken makes one that allows what the grant says; it is told once.
func (c *Client) CreateProvisionerToken(ctx context.Context, name string, grant fleet.ProvisionerGrant) (string, error) {
	var out struct {
		Token string `json:"token"`
	}
	err := c.Call(ctx, http.MethodPost, "/provisioner-tokens", nil, map[string]any{"name": name, "tenants": grant.Tenants, "tags": grant.Tags, "slots": grant.Slots}, &out)
	return out.Token, err
}

// RevokeProvisionerToken ends one.
func (c *Client) RevokeProvisionerToken(ctx context.Context, name string) error {
	var out struct{}
	return c.Call(ctx, http.MethodDelete, "/provisioner-tokens/"+url.PathEscape(name), nil, nil, &out)
}
