package main

import (
	"context"

	"muster/app/all"
	appoperation "muster/app/operation"
	"muster/app/template"
)

// Accepting a partial result, in the matrix.
var acceptPartialTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"PreviewAcceptPartial": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Partials.PreviewAcceptPartial(ctx, s.actor, s.cluster(), 0, "")
		return err
	},
	"AcceptPartial": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Partials.AcceptPartial(ctx, s.actor, s.cluster(), 0, "", template.PartialOverride{})
		return err
	},
	"SetBackfill": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Backfills.SetBackfill(ctx, s.actor, s.cluster(), appoperation.BackfillOrder{Off: true})
		return err
	},
}
