package client

import (
	"context"
	"net/http"

	"muster/app/output"
)

// Outputs are the values that clusters publish.
type Outputs part

// List returns a cluster's outputs, without secret values.
func (c *Outputs) List(ctx context.Context, id string) (l output.List, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "outputs"), nil, &l)
	return l, err
}

// Reveal returns the named outputs with secret values; all where none is named.
func (c *Outputs) Reveal(ctx context.Context, id string, names ...string) (l output.List, err error) {
	in := struct {
		Names []string `json:"names,omitempty"`
	}{names}
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "outputs", "reveal"), nil, in, &l)
	return l, err
}
