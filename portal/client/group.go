package client

import (
	"context"
	"muster/app/identity"
	"net/http"
	"net/url"
)

// Groups are the groups of a tenant.
type Groups part

// List lists groups.
func (c *Groups) List(ctx context.Context) ([]identity.Group, error) {
	var out struct{ Groups []identity.Group }
	err := c.client.CallInto(ctx, "/groups", nil, &out)
	return out.Groups, err
}

// Save creates or updates a group.
func (c *Groups) Save(ctx context.Context, change identity.GroupChange) (g identity.Group, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/groups", nil, change, &g)
	return g, err
}

// Delete deletes a group, but not its members.
func (c *Groups) Delete(ctx context.Context, name string) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodDelete, "/groups", url.Values{"name": {name}}, nil, &out)
}
