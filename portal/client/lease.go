package client

import (
	"context"
	"net/http"

	"muster/app/operation"
	"muster/app/template"
)

// Leases are how long clusters are kept.
type Leases part

// Get tells when a lease ends, and how it can be moved.
func (c *Leases) Get(ctx context.Context, id string) (o operation.LeaseOutlook, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "lease"), nil, &o)
	return o, err
}

// Extend moves the end of a lease.
func (c *Leases) Extend(ctx context.Context, id string, r template.LeaseRequest) (o operation.LeaseOutlook, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "lease"), nil, r, &o)
	return o, err
}
