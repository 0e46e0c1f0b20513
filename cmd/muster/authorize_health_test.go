package main

import (
	"context"

	"muster/app/all"
)

// How clusters are, in the matrix.
var healthTries = map[string]func(ctx context.Context, a *all.App, s *scene) error{
	"Health": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.Health(ctx, s.actor, s.cluster())
		return err
	},
	"CheckHealth": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CheckHealth(ctx, s.actor, s.cluster())
		return err
	},
	"ClusterFacts": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ClusterFacts(ctx, s.actor, s.cluster())
		return err
	},
	"Drift": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.Drift(ctx, s.actor, s.cluster())
		return err
	},
}
