package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// reasonCommand is why a command's step failed that ended with another exit code than 0.
const reasonCommand = "command_failed"

// runCommand carries out a command that a person runs. A claim taken over waits for a command that still runs, and does not repeat one that has
// succeeded.
func runCommand(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) error {
	var cut atomic.Bool
	defer func() { r.Cut = cut.Load() }()
	said := out
	out = func(s app.Stream, line string) {
		if s == family.StreamSystem && strings.HasPrefix(line, family.OutputCut) {
			cut.Store(true)
		}
		said(s, line)
	}
	return w.call(ctx, as, out, func(sh family.Shell, a family.Automator, call family.ServiceCall) error {
		exit := 0
		call.Tell = nil
		call.Exited = func(code int) { exit = code; r.Exit = &exit }
		err := a.Run(ctx, sh, call, out)
		if e := (*app.Error)(nil); exit != 0 && errors.As(err, &e) && e.Code == app.EScript {
			return &app.Error{Code: app.EScript, Reason: reasonCommand, Message: fmt.Sprintf("The command ended with exit code %d.", exit)}
		}
		return err
	})
}
