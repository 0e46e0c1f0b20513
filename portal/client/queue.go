package client

import (
	"context"
	"muster/app/execution"
	"net/url"
	"strconv"
)

// Queues shows what is waiting, and why.
type Queues part

// Waiting returns what a cluster's steps are waiting for.
func (c *Queues) Waiting(ctx context.Context, id string, f execution.WaitingFilter) (w execution.Waiting, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"node": f.Node, "step": f.Step, "from": strconv.Itoa(f.From), "limit": strconv.Itoa(f.Limit)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	err = c.client.CallInto(ctx, ClusterPath(id, "waiting"), q, &w)
	return w, err
}

// Get returns what is waiting for workers.
func (c *Queues) Get(ctx context.Context) (q execution.Queue, err error) {
	err = c.client.CallInto(ctx, "/queue", nil, &q)
	return q, err
}

// List returns what is waiting in all tenants, for superadmins.
func (c *Queues) List(ctx context.Context) (q execution.Queues, err error) {
	err = c.client.CallInto(ctx, "/queues", nil, &q)
	return q, err
}
