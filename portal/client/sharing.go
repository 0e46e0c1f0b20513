package client

import (
	"context"
	"muster/app"
	"muster/app/sharing"
	"net/http"
)

// Sharing is access to clusters.
type Sharing part

// Get returns who has access to a cluster.
func (c *Sharing) Get(ctx context.Context, id string) (s sharing.ClusterSharing, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "sharing"), nil, &s)
	return s, err
}

// Change changes access to a cluster.
func (c *Sharing) Change(ctx context.Context, id string, change sharing.SharingChange) (s sharing.ClusterSharing, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "sharing"), nil, change, &s)
	return s, err
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility"`
}

// DefaultVisibility returns the visibility of new clusters.
func (c *Sharing) DefaultVisibility(ctx context.Context) (app.Visibility, error) {
	var out clusterDefaults
	err := c.client.CallInto(ctx, "/cluster-defaults", nil, &out)
	return out.Visibility, err
}

// SetDefaultVisibility sets the visibility of new clusters.
func (c *Sharing) SetDefaultVisibility(ctx context.Context, v app.Visibility) error {
	return c.client.Call(ctx, http.MethodPut, "/cluster-defaults", nil, clusterDefaults{v}, &clusterDefaults{})
}
