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

// Pools are clusters that are created ahead of time.
type Pools part

// List lists the pools of the tenant.
func (c *Pools) List(ctx context.Context) ([]pool.PoolView, error) {
	var out struct {
		Pools []pool.PoolView `json:"pools"`
	}
	err := c.client.CallInto(ctx, "/pools", nil, &out)
	return out.Pools, err
}

// Get returns a pool with its machines.
func (c *Pools) Get(ctx context.Context, name string) (v pool.PoolView, err error) {
	err = c.client.CallInto(ctx, poolPath(name), nil, &v)
	return v, err
}

// Create has machines made ahead of time.
func (c *Pools) Create(ctx context.Context, r pool.PoolRequest) (v pool.PoolView, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/pools", nil, r, &v)
	return v, err
}

// Change changes a pool by the names of its fields; what is not named stays.
func (c *Pools) Change(ctx context.Context, name string, change map[string]any) (v pool.PoolView, err error) {
	err = c.client.Call(ctx, http.MethodPatch, poolPath(name), nil, change, &v)
	return v, err
}

// Drain returns all machines of a pool, and has none made.
func (c *Pools) Drain(ctx context.Context, name string) (v pool.PoolView, err error) {
	err = c.client.Call(ctx, http.MethodPost, poolPath(name, "drain"), nil, nil, &v)
	return v, err
}

// Delete returns all machines of a pool, and deletes it.
func (c *Pools) Delete(ctx context.Context, name string) (r pool.PoolReceipt, err error) {
	err = c.client.Call(ctx, http.MethodDelete, poolPath(name), nil, nil, &r)
	return r, err
}

// Receipt tells what a pool has had and what that cost, also of one that is gone.
func (c *Pools) Receipt(ctx context.Context, name string) (r pool.PoolReceipt, err error) {
	err = c.client.CallInto(ctx, poolPath(name, "receipt"), nil, &r)
	return r, err
}
