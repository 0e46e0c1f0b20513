package client

import (
	"context"
	"net/url"

	"muster/app/usage"
)

// Usage tells what was used and what it cost, in the words of the API: from, to, by, step, all.
func (c *Client) Usage(ctx context.Context, q url.Values) (u usage.Usage, err error) {
	err = c.CallInto(ctx, "/usage", q, &u)
	return u, err
}
