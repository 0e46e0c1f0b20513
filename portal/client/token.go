package client

import (
	"context"
	"muster/app/identity"
	"net/http"
	"net/url"
	"strconv"
)

// Tokens are API tokens.
type Tokens part

// End revokes the client's own token, and returns its number.
func (c *Tokens) End(ctx context.Context) (int64, error) {
	var out struct{ Revoked int64 }
	err := c.client.Call(ctx, http.MethodDelete, "/token", nil, nil, &out)
	return out.Revoked, err
}

// List lists the caller's API tokens; for admins, those of the tenant or of one user.
func (c *Tokens) List(ctx context.Context, user string) ([]identity.Token, error) {
	q := url.Values{}
	if user != "" {
		q.Set("user", user)
	}
	var out struct{ Tokens []identity.Token }
	err := c.client.CallInto(ctx, "/tokens", q, &out)
	return out.Tokens, err
}

// MadeToken is a created token.
type MadeToken struct {
	Token  identity.Token `json:"token"`
	Secret string         `json:"secret"`
}

// Create creates an API token; its secret is returned only once.
func (c *Tokens) Create(ctx context.Context, n identity.NewAPIToken) (m MadeToken, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/tokens", nil, n, &m)
	return m, err
}

// Revoke revokes an API token.
func (c *Tokens) Revoke(ctx context.Context, id int64) error {
	var out map[string]int64
	return c.client.Call(ctx, http.MethodDelete, "/tokens/"+strconv.FormatInt(id, 10), nil, nil, &out)
}
