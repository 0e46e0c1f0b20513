package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"muster/app/pool"
)

func poolPath(name string, rest ...string) string {
	return strings.Join(append([]string{"/pools", url.PathEscape(name)}, rest...), "/")
}

// Pools are machines that are kept ready.
type Pools part

// List lists pools.
func (c *Pools) List(ctx context.Context) ([]pool.View, error) {
	var out struct {
		Pools []pool.View `json:"pools"`
	}
	err := c.client.CallInto(ctx, "/pools", nil, &out)
	return out.Pools, err
}

// Get returns a pool with its machines.
func (c *Pools) Get(ctx context.Context, name string) (v pool.View, err error) {
	err = c.client.CallInto(ctx, poolPath(name), nil, &v)
	return v, err
}

// Create creates a pool.
func (c *Pools) Create(ctx context.Context, r pool.Request) (v pool.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/pools", nil, r, &v)
	return v, err
}

// Change updates the given fields of a pool.
func (c *Pools) Change(ctx context.Context, name string, change map[string]any) (v pool.View, err error) {
	err = c.client.Call(ctx, http.MethodPatch, poolPath(name), nil, change, &v)
	return v, err
}

// Drain deletes all machines of a pool and creates no more.
func (c *Pools) Drain(ctx context.Context, name string) (v pool.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, poolPath(name, "drain"), nil, nil, &v)
	return v, err
}

// Delete deletes a pool and all its machines.
func (c *Pools) Delete(ctx context.Context, name string) (r pool.Receipt, err error) {
	err = c.client.Call(ctx, http.MethodDelete, poolPath(name), nil, nil, &r)
	return r, err
}

// Receipt returns a pool's machines with their costs, also for a deleted pool.
func (c *Pools) Receipt(ctx context.Context, name string) (r pool.Receipt, err error) {
	err = c.client.CallInto(ctx, poolPath(name, "receipt"), nil, &r)
	return r, err
}
