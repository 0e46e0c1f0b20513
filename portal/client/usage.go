package client

import (
	"context"
	"net/url"

	"muster/app/usage"
)

// Usage is usage and cost.
type Usage part

// Get returns usage and cost; its filters are the API's: from, to, by, step, all.
func (c *Usage) Get(ctx context.Context, q url.Values) (u usage.Usage, err error) {
	err = c.client.CallInto(ctx, "/usage", q, &u)
	return u, err
}
