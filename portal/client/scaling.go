package client

import (
	"context"
	"net/http"

	"muster/app/scaling"
)

// Scaling is how clusters are scaled.
type Scaling part

// Get returns how a cluster is scaled, and what was decided.
func (c *Scaling) Get(ctx context.Context, id string) (v scaling.View, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "scaling"), nil, &v)
	return v, err
}

// Set sets rules of a cluster itself, or turns its scaling off.
func (c *Scaling) Set(ctx context.Context, id string, s scaling.Setting) (v scaling.View, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "scaling"), nil, s, &v)
	return v, err
}

// Inherit lets a cluster use its template's rules again.
func (c *Scaling) Inherit(ctx context.Context, id string) (v scaling.View, err error) {
	err = c.client.Call(ctx, http.MethodDelete, ClusterPath(id, "scaling"), nil, nil, &v)
	return v, err
}

// Resume resumes scaling that is paused.
func (c *Scaling) Resume(ctx context.Context, id string) (v scaling.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "scaling", "resume"), nil, nil, &v)
	return v, err
}
