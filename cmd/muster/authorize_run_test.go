package main

import (
	"context"
	"strings"

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
	"ActionSchedules": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.ActionSchedules(ctx, s.actor, s.cluster())
		return err
	},
	"CreateActionSchedule": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.CreateActionSchedule(ctx, s.actor, s.cluster(), apprun.NewSchedule{Action: "missing", Every: "1h"})
		return noneSuch(err)
	},
	"PauseActionSchedule": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.PauseActionSchedule(ctx, s.actor, s.cluster(), "missing", true)
		return noneSuch(err)
	},
	"DeleteActionSchedule": func(ctx context.Context, a *all.Services, s *scene) error {
		return noneSuch(a.Run.DeleteActionSchedule(ctx, s.actor, s.cluster(), "missing"))
	},
	"Run": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Run.Run(ctx, s.actor, s.cluster(), 0)
		if app.AsError(err).Reason == plan.NoRun { // none was run
			return nil
		}
		return err
	},
}

// noneSuch tells a refusal from the answer that the cluster has no such action or schedule, which only those learn who may use it.
func noneSuch(err error) error {
	if e := app.AsError(err); err != nil && strings.Contains(e.Message, "missing") {
		return &app.Error{Code: app.EConflict, Message: e.Message}
	}
	return err
}
