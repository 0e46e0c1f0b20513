package main

import (
	"context"

	"muster/app/all"
	appoperation "muster/app/operation"
)

// Going on with fewer nodes, in the matrix.
var goOnTries = map[string]func(ctx context.Context, a *all.App, s *scene) error{
	"PreviewGoOn": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.PreviewGoOn(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"GoOn": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.GoOn(ctx, s.actor, s.cluster(), 0, "", false)
		return err
	},
	"SetTopUp": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.SetTopUp(ctx, s.actor, s.cluster(), appoperation.TopUpOrder{Off: true})
		return err
	},
}
