package main

import (
	"context"

	"muster/app/all"
	"muster/app/schedule"
)

// What becomes of clusters, in the matrix.
var lifeTries = map[string]func(ctx context.Context, a *all.App, s *scene) error{
	"RenameCluster": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.RenameCluster(ctx, s.actor, s.cluster(), s.fresh("renamed"))
		return err
	},
	"TransferCluster": func(ctx context.Context, a *all.App, s *scene) error {
		c := s.cluster()
		_, err := a.TransferCluster(ctx, s.actor, c, s.lesser())
		return err
	},
	"PreviewSleep": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.PreviewSleep(ctx, s.actor, s.cluster())
		return err
	},
	"PreviewWake": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.PreviewWake(ctx, s.actor, s.cluster())
		return err
	},
	"SleepCluster": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.SleepCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
	"Schedule": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.Schedule(ctx, s.actor, s.cluster())
		return err
	},
	"SetSchedule": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.SetSchedule(ctx, s.actor, s.cluster(), schedule.Schedule{Sleep: "0 19 * * *"})
		return err
	},
	"ExportCluster": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ExportCluster(ctx, s.actor, s.cluster())
		return err
	},
	"PreviewClone": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.PreviewClone(ctx, s.actor, s.cluster(), s.fresh("twin"))
		return err
	},
	"CloneCluster": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CloneCluster(ctx, s.actor, s.cluster(), s.fresh("twin"), "")
		return err
	},
	"DiffClusters": func(ctx context.Context, a *all.App, s *scene) error {
		c := s.cluster()
		_, err := a.DiffClusters(ctx, s.actor, c, c)
		return err
	},
	"WakeCluster": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.WakeCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
}
