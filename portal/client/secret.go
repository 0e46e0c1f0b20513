package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
)

// Secrets are write-only values.
type Secrets part

// Set sets a secret.
func (c *Secrets) Set(ctx context.Context, name string, value []byte) error {
	return c.client.Call(ctx, http.MethodPut, "/secrets/"+url.PathEscape(name), nil, rawBody(value), nil)
}

// List lists the names of secrets.
func (c *Secrets) List(ctx context.Context) ([]app.Secret, error) {
	var out struct {
		Secrets []app.Secret `json:"secrets"`
	}
	err := c.client.CallInto(ctx, "/secrets", nil, &out)
	return out.Secrets, err
}

// Delete deletes a secret.
func (c *Secrets) Delete(ctx context.Context, name string) error {
	return c.client.Call(ctx, http.MethodDelete, "/secrets/"+url.PathEscape(name), nil, nil, nil)
}
