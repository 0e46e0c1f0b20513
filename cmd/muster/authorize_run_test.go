package main

import (
	"context"

	"muster/app"
	"muster/app/all"
	"muster/app/plan"
	apprun "muster/app/run"
)

// Commands, in the matrix.
var runTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"RunCommand": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.RunCommand(ctx, s.actor, s.cluster(), apprun.Ask{Command: "uptime"})
		return err
	},
	"Actions": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.Actions(ctx, s.actor, s.cluster())
		return err
	},
	"Run": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.Run(ctx, s.actor, s.cluster(), 0)
		if app.AsError(err).Reason == plan.NoRun { // none was run
			return nil
		}
		return err
	},
}
