package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
)

// SetSecret sets a secret of the tenant. It cannot be read again.
func (c *Client) SetSecret(ctx context.Context, name string, value []byte) error {
	return c.Call(ctx, http.MethodPut, "/secrets/"+url.PathEscape(name), nil, rawBody(value), nil)
}

// Secrets lists the names of the tenant's secrets.
func (c *Client) Secrets(ctx context.Context) ([]app.Secret, error) {
	var out struct {
		Secrets []app.Secret `json:"secrets"`
	}
	err := c.CallInto(ctx, "/secrets", nil, &out)
	return out.Secrets, err
}

// DeleteSecret deletes a secret.
func (c *Client) DeleteSecret(ctx context.Context, name string) error {
	return c.Call(ctx, http.MethodDelete, "/secrets/"+url.PathEscape(name), nil, nil, nil)
}
