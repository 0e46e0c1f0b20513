package main

import (
	"context"

	"muster/app/all"
)

// How clusters are, in the matrix.
var healthTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Health": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Health.Health(ctx, s.actor, s.cluster())
		return err
	},
	"CheckHealth": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Health.CheckHealth(ctx, s.actor, s.cluster())
		return err
	},
	"ClusterFacts": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Facts.ClusterFacts(ctx, s.actor, s.cluster())
		return err
	},
	"Drift": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Drifts.Drift(ctx, s.actor, s.cluster())
		return err
	},
}
