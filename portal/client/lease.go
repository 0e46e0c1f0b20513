package client

import (
	"context"
	"net/http"

	"muster/app/lease"
	"muster/app/template"
)

// Leases are clusters' leases.
type Leases part

// Get returns a lease and how it can be extended.
func (c *Leases) Get(ctx context.Context, id string) (o lease.Outlook, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "lease"), nil, &o)
	return o, err
}

// Extend extends a lease.
func (c *Leases) Extend(ctx context.Context, id string, r template.LeaseRequest) (o lease.Outlook, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "lease"), nil, r, &o)
	return o, err
}
