package main

import (
	"context"

	"muster/app/all"
)

// What people begin with, in the matrix.
var homeTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Home": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Dashboard.Home(ctx, s.actor)
		return err
	},
	"TemplatePrices": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.TemplatePrices(ctx, s.actor)
		return err
	},
}
