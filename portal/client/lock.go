package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/lock"
)

// Locks keeps everyone but admins from clusters and nodes.
type Locks part

// List returns what is locked in the tenant.
func (c *Locks) List(ctx context.Context) ([]lock.Item, error) {
	var out struct {
		Locks []lock.Item `json:"locks"`
	}
	err := c.client.CallInto(ctx, "/locks", nil, &out)
	return out.Locks, err
}

// Lock locks a cluster, or a node of it.
func (c *Locks) Lock(ctx context.Context, id string, ask lock.Ask) error {
	return c.client.Call(ctx, http.MethodPut, ClusterPath(id, "lock"), nil, ask, nil)
}

// Unlock unlocks a cluster; or a node of it, unless that is "".
func (c *Locks) Unlock(ctx context.Context, id, node string) error {
	return c.client.Call(ctx, http.MethodDelete, ClusterPath(id, "lock"), url.Values{"node": {node}}, nil, nil)
}
