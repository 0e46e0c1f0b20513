package main

import (
	"context"
	"time"

	"muster/app/all"
	"muster/app/template"
)

// Idle clusters, in the matrix.
var idleTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ClusterIdle": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.ClusterIdle(ctx, s.actor, s.cluster())
		return err
	},
	"KeepCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.KeepCluster(ctx, s.actor, s.cluster(), time.Hour)
		return err
	},
	"SetClusterIdle": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.SetClusterIdle(ctx, s.actor, s.cluster(), true)
		return err
	},
	"IdleWarnings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.IdleWarnings(ctx, s.actor)
		return err
	},
	"IdleSavings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.IdleSavings(ctx, s.actor, time.Time{}, time.Time{})
		return err
	},
	"IdlePolicy": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Idle.IdlePolicy(ctx, s.actor)
		return err
	},
	"SetIdlePolicy": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Idle.SetIdlePolicy(ctx, s.actor, &template.IdlePolicy{After: time.Hour, If: template.IdleConditions{NoSSH: true}})
	},
}
