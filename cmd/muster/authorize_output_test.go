package main

import (
	"context"

	"muster/app/all"
)

// Outputs, in the matrix.
var outputTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ClusterOutputs": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Outputs.ClusterOutputs(ctx, s.actor, s.cluster())
		return err
	},
	"RevealOutputs": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Outputs.RevealOutputs(ctx, s.actor, s.cluster(), nil)
		return err
	},
}
