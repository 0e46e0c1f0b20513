package main

import (
	"context"

	"muster/app/all"
	"muster/app/scaling"
)

// Scaling, in the matrix.
var scalingTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ClusterScaling": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Scaling.ClusterScaling(ctx, s.actor, s.cluster())
		return err
	},
	"SetClusterScaling": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Scaling.SetClusterScaling(ctx, s.actor, s.cluster(), scaling.Setting{Off: true})
		return err
	},
	"ResumeScaling": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Scaling.ResumeScaling(ctx, s.actor, s.cluster())
		return err
	},
}
