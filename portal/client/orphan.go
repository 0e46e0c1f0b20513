package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/fleet"
)

// Orphans gives what a server knows of machines that nobody stands behind.
func (c *Client) Orphans(ctx context.Context, gone bool) (r fleet.OrphanReport, err error) {
	q := url.Values{}
	if gone {
		q.Set("gone", "true")
	}
	err = c.CallInto(ctx, "/orphans", q, &r)
	return r, err
}

// DecideOrphan says what becomes of a machine that nobody stands behind.
func (c *Client) DecideOrphan(ctx context.Context, id string, d fleet.OrphanDecision) (o fleet.Orphan, err error) {
	err = c.Call(ctx, http.MethodPost, "/orphans/"+url.PathEscape(id), nil, map[string]fleet.OrphanDecision{"decision": d}, &o)
	return o, err
}

// SetOrphanMode says what becomes of such machines from now on.
func (c *Client) SetOrphanMode(ctx context.Context, m fleet.OrphanMode) error {
	var out map[string]string
	return c.Call(ctx, http.MethodPut, "/orphans-mode", nil, map[string]fleet.OrphanMode{"mode": m}, &out)
}
