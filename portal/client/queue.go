package client

import (
	"context"
	"muster/app/execution"
	"net/url"
	"strconv"
)

// Queues are what waits, and why.
type Queues part

// Waiting tells what a cluster's steps wait for.
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

// Get tells what waits for workers.
func (c *Queues) Get(ctx context.Context) (q execution.Queue, err error) {
	err = c.client.CallInto(ctx, "/queue", nil, &q)
	return q, err
}

// List returns what waits in all tenants, for superadmins.
func (c *Queues) List(ctx context.Context) (q execution.Queues, err error) {
	err = c.client.CallInto(ctx, "/queues", nil, &q)
	return q, err
}
