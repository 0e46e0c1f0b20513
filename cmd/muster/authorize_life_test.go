package main

import (
	"context"

	"muster/app"
)

// What becomes of clusters, in the matrix.
var lifeTries = map[string]func(ctx context.Context, a *app.App, s *scene) error{
	"RenameCluster": func(ctx context.Context, a *app.App, s *scene) error {
		_, err := a.RenameCluster(ctx, s.actor, s.cluster(), s.fresh("renamed"))
		return err
	},
	"TransferCluster": func(ctx context.Context, a *app.App, s *scene) error {
		c := s.cluster()
		_, err := a.TransferCluster(ctx, s.actor, c, s.lesser())
		return err
	},
	"PreviewSleep": func(ctx context.Context, a *app.App, s *scene) error {
		_, err := a.PreviewSleep(ctx, s.actor, s.cluster())
		return err
	},
	"PreviewWake": func(ctx context.Context, a *app.App, s *scene) error {
		_, err := a.PreviewWake(ctx, s.actor, s.cluster())
		return err
	},
	"SleepCluster": func(ctx context.Context, a *app.App, s *scene) error {
		_, err := a.SleepCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
	"WakeCluster": func(ctx context.Context, a *app.App, s *scene) error {
		_, err := a.WakeCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
}
