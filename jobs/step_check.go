package jobs

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/internal/loop"
)

// The pauses between two looks at a service that is not healthy yet.
const (
	firstCheck = 250 * time.Millisecond
	longCheck  = 5 * time.Second
)

// check waits until the step's service is healthy by its own health check, or the time limit of the check is over.
func (w *actions) check(ctx context.Context, as *execution.Assignment, out family.Output) error {
	if as.Health == nil {
		return app.Errorf(app.EInternal, "step %s has no health check", as.StepID)
	}
	checks := []nodeCheck{{as.Service, as.Health}}
	began, asks := time.Now(), as.Health.Asks()
	last := ""
	for try := 1; ; try++ {
		var wrong string
		err := w.onNode(ctx, as, func(sh family.Shell) error {
			if err := ensureHosts(ctx, as, sh); err != nil {
				return err
			}
			found, err := look(ctx, sh, nodeContext(as), as.Node.Address(app.AddressBind), checks)
			wrong = found[as.Service]
			return err
		})
		switch {
		case err != nil:
			return err
		case wrong == "":
			out(family.StreamSystem, fmt.Sprintf("%s is healthy (%s) after %s.", as.Service, asks, humanize.Duration(time.Since(began))))
			return nil
		}
		if wrong != last {
			out(family.StreamSystem, as.Service+" isn't healthy yet: "+wrong)
		}
		last = wrong
		if wait := as.Health.WaitOr60s(); time.Since(began) >= wait {
			return &app.Error{Code: app.EScript, Reason: reasonUnhealthy,
				Message: fmt.Sprintf("%s on %s didn't become healthy within %s: %s.", as.Service, as.Node.Name, humanize.Exact(wait), wrong),
				Hint:    "Check the service's log on the node. If it only needs more time, raise its health check's wait in the catalog."}
		}
		if err := loop.Pause(ctx, min(loop.BackOff(firstCheck, try), longCheck)); err != nil {
			return err
		}
	}
}
