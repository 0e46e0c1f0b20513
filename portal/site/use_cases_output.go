package site

import (
	"context"

	"muster/app"
	"muster/app/output"
)

// Outputs shows the outputs of clusters.
type Outputs interface {
	// ClusterOutputs returns no secret values.
	ClusterOutputs(ctx context.Context, a app.Actor, cluster string) (output.List, error)
	// RevealOutputs returns the named ones, or all, with secret values. ENotFound names one that there isn't.
	RevealOutputs(ctx context.Context, a app.Actor, cluster string, names []string) (output.List, error)
}
