package main

import (
	"context"

	"muster/app/all"
	appoperation "muster/app/operation"
)

// Accepting a partial result, in the matrix.
var goOnTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"PreviewGoOn": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Partials.PreviewGoOn(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"GoOn": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Partials.GoOn(ctx, s.actor, s.cluster(), 0, "", false)
		return err
	},
	"SetTopUp": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Backfills.SetTopUp(ctx, s.actor, s.cluster(), appoperation.TopUpOrder{Off: true})
		return err
	},
}
