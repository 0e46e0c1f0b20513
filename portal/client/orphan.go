package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/fleet"
)

// Orphans are orphaned machines.
type Orphans part

// List lists orphaned machines.
func (c *Orphans) List(ctx context.Context, gone bool) (r fleet.OrphanReport, err error) {
	q := url.Values{}
	if gone {
		q.Set("gone", "true")
	}
	err = c.client.CallInto(ctx, "/orphans", q, &r)
	return r, err
}

// Decide decides what to do with an orphaned machine.
func (c *Orphans) Decide(ctx context.Context, id string, d fleet.OrphanDecision) (o fleet.Orphan, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/orphans/"+url.PathEscape(id), nil, map[string]fleet.OrphanDecision{"decision": d}, &o)
	return o, err
}

// SetMode sets how orphaned machines are handled.
func (c *Orphans) SetMode(ctx context.Context, m fleet.OrphanMode) error {
	var out map[string]string
	return c.client.Call(ctx, http.MethodPut, "/orphans-mode", nil, map[string]fleet.OrphanMode{"mode": m}, &out)
}
