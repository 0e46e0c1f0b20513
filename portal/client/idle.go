package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/idle"
)

// Idle is how clusters are used.
type Idle part

// Get returns how a cluster is used, and what happens when.
func (c *Idle) Get(ctx context.Context, id string) (v idle.View, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "idle"), nil, &v)
	return v, err
}

// Turn turns the idle policy of a cluster off or on.
func (c *Idle) Turn(ctx context.Context, id string, off bool) (v idle.View, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "idle"), nil, map[string]bool{"off": off}, &v)
	return v, err
}

// Keep keeps a cluster for a while, such as 2h.
func (c *Idle) Keep(ctx context.Context, id, length string) (v idle.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "keep"), nil, map[string]string{"for": length}, &v)
	return v, err
}

// Policy returns the tenant's policy.
func (c *Idle) Policy(ctx context.Context) (d idle.Default, err error) {
	err = c.client.CallInto(ctx, "/idle-policy", nil, &d)
	return d, err
}

// SetPolicy sets the tenant's policy.
func (c *Idle) SetPolicy(ctx context.Context, p *idle.PolicyView) (d idle.Default, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/idle-policy", nil, idle.Default{Policy: p}, &d)
	return d, err
}

// Savings returns what was saved; from and to may be "".
func (c *Idle) Savings(ctx context.Context, from, to string) (s idle.Savings, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"from": from, "to": to} {
		if value != "" {
			q.Set(name, value)
		}
	}
	err = c.client.CallInto(ctx, "/usage/savings", q, &s)
	return s, err
}
