package main

import (
	"context"

	"muster/app/all"
	"muster/app/label"
	"muster/app/lock"
	"muster/app/schedule"
	"muster/app/window"
)

// What happens to clusters, in the matrix.
var manageTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"RenameCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Ownership.RenameCluster(ctx, s.actor, s.cluster(), s.fresh("renamed"))
		return err
	},
	"Locks": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Locks.Locks(ctx, s.actor)
		return err
	},
	"LockCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Cluster.Locks.LockCluster(ctx, s.actor, s.cluster(), lock.Ask{Reason: "Odd logins"})
	},
	"UnlockCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		c := s.cluster()
		s.must(a.Cluster.Locks.LockCluster(ctx, s.boss(), c, lock.Ask{Reason: "Odd logins"}))
		return a.Cluster.Locks.UnlockCluster(ctx, s.actor, c, "")
	},
	"LabelCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Label.LabelCluster(ctx, s.actor, s.cluster(), label.Change{Set: label.Labels{"team": "web"}})
		return err
	},
	"TransferCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		c := s.cluster()
		_, err := a.Ownership.TransferCluster(ctx, s.actor, c, s.lesser())
		return err
	},
	"PreviewSleep": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Sleeping.PreviewSleep(ctx, s.actor, s.cluster())
		return err
	},
	"PreviewWake": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Sleeping.PreviewWake(ctx, s.actor, s.cluster())
		return err
	},
	"SleepCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Sleeping.SleepCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
	"MaintenanceWindows": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Window.MaintenanceWindows(ctx, s.actor)
		return err
	},
	"SetMaintenanceWindows": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Window.SetMaintenanceWindows(ctx, s.actor, window.Settings{})
		return err
	},
	"ClusterMaintenance": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Window.ClusterMaintenance(ctx, s.actor, s.cluster())
		return err
	},
	"SetClusterMaintenance": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Window.SetClusterMaintenance(ctx, s.actor, s.cluster(), &window.Settings{})
		return err
	},
	"ClusterProviderValues": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Values.ClusterProviderValues(ctx, s.actor, s.cluster())
		return err
	},
	"SetClusterProviderValues": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Values.SetClusterProviderValues(ctx, s.actor, s.cluster(), nil)
		return err
	},
	"Schedule": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Schedules.Schedule(ctx, s.actor, s.cluster())
		return err
	},
	"SetSchedule": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Schedules.SetSchedule(ctx, s.actor, s.cluster(), schedule.Schedule{Sleep: "0 19 * * *"})
		return err
	},
	"ExportCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Specs.ExportCluster(ctx, s.actor, s.cluster())
		return err
	},
	"PreviewClone": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Creates.PreviewClone(ctx, s.actor, s.cluster(), s.fresh("twin"))
		return err
	},
	"CloneCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Creates.CloneCluster(ctx, s.actor, s.cluster(), s.fresh("twin"), "")
		return err
	},
	"DiffClusters": func(ctx context.Context, a *all.Services, s *scene) error {
		c := s.cluster()
		_, err := a.Cluster.Specs.DiffClusters(ctx, s.actor, c, c)
		return err
	},
	"WakeCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Sleeping.WakeCluster(ctx, s.actor, s.cluster(), "")
		return err
	},
}
