package client

import (
	"context"
	"net/http"

	"muster/app/operation"
	"muster/app/template"
)

// Lease tells when a lease ends, and how it can be moved.
func (c *Client) Lease(ctx context.Context, id string) (o operation.LeaseOutlook, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "lease"), nil, &o)
	return o, err
}

// ExtendLease moves the end of a lease.
func (c *Client) ExtendLease(ctx context.Context, id string, r template.LeaseRequest) (o operation.LeaseOutlook, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "lease"), nil, r, &o)
	return o, err
}
