package client

import (
	"context"
	"net/url"

	"muster/app/usage"
)

// Usage is what was used, and what it cost.
type Usage part

// Get tells what was used and what it cost, in the words of the API: from, to, by, step, all.
func (c *Usage) Get(ctx context.Context, q url.Values) (u usage.Usage, err error) {
	err = c.client.CallInto(ctx, "/usage", q, &u)
	return u, err
}
