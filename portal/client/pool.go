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

// Pools lists the pools of the tenant.
func (c *Client) Pools(ctx context.Context) ([]pool.PoolView, error) {
	var out struct {
		Pools []pool.PoolView `json:"pools"`
	}
	err := c.CallInto(ctx, "/pools", nil, &out)
	return out.Pools, err
}

// Pool gives a pool with its machines.
func (c *Client) Pool(ctx context.Context, name string) (v pool.PoolView, err error) {
	err = c.CallInto(ctx, poolPath(name), nil, &v)
	return v, err
}

// CreatePool has machines made ahead of time.
func (c *Client) CreatePool(ctx context.Context, r pool.PoolRequest) (v pool.PoolView, err error) {
	err = c.Call(ctx, http.MethodPost, "/pools", nil, r, &v)
	return v, err
}

// ChangePool changes a pool by the names of its fields; what is not named stays.
func (c *Client) ChangePool(ctx context.Context, name string, change map[string]any) (v pool.PoolView, err error) {
	err = c.Call(ctx, http.MethodPatch, poolPath(name), nil, change, &v)
	return v, err
}

// DrainPool gives all machines of a pool back, and has none made.
func (c *Client) DrainPool(ctx context.Context, name string) (v pool.PoolView, err error) {
	err = c.Call(ctx, http.MethodPost, poolPath(name, "drain"), nil, nil, &v)
	return v, err
}

// DeletePool gives all machines of a pool back, and deletes it.
func (c *Client) DeletePool(ctx context.Context, name string) (r pool.PoolReceipt, err error) {
	err = c.Call(ctx, http.MethodDelete, poolPath(name), nil, nil, &r)
	return r, err
}

// PoolReceipt tells what a pool has had and what that cost, also of one that is gone.
func (c *Client) PoolReceipt(ctx context.Context, name string) (r pool.PoolReceipt, err error) {
	err = c.CallInto(ctx, poolPath(name, "receipt"), nil, &r)
	return r, err
}
