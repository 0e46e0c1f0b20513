package main

import (
	"context"
	"io"

	"muster/app"
	"muster/app/all"
	appnode "muster/app/node"
)

// Lists and what operators look at, in the matrix.
var listTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ClusterPage": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Views.ClusterPage(ctx, s.actor, app.ClusterFilter{})
		return err
	},
	"Nodes": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Node.Nodes(ctx, s.actor, appnode.Filter{})
		return err
	},
	"Settings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Installation.Settings(ctx, s.actor)
		return err
	},
	"Metrics": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Fleet.Installation.Metrics(ctx, s.actor, io.Discard)
	},
	"ProviderHealth": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Installation.ProviderHealth(ctx, s.actor)
		return err
	},
	"ClusterCounts": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Views.ClusterCounts(ctx, s.actor, app.ClusterFilter{})
		return err
	},
}
