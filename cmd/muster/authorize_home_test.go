package main

import (
	"context"

	"muster/app/all"
)

// What people begin with, in the matrix.
var homeTries = map[string]func(ctx context.Context, a *all.App, s *scene) error{
	"Home": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.Home(ctx, s.actor)
		return err
	},
	"TemplatePrices": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.TemplatePrices(ctx, s.actor)
		return err
	},
}
