package jobs

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// compare has the tool of a service say what it would change on the node. What the tool can't tell is reported as a change too, so that a
// comparison fails only where the node cannot be reached or someone stops it.
func (w *actions) compare(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	return w.call(ctx, as, out, func(sh family.Shell, a family.Automator, call family.ServiceCall) error {
		dry, ok := a.(family.DryRunner)
		if !ok {
			return app.Errorf(app.EInvalid, "Automator %s can't preview changes.", as.Call.Automator)
		}
		changes, err := dry.DryRun(ctx, sh, call, out)
		switch app.CodeOf(err) {
		case "":
		case app.EScript, app.EInvalid:
			if ctx.Err() != nil {
				return err
			}
			changes = family.Changes{}
			changes.Add("unknown: " + app.AsError(err).ForPeople())
		default:
			return err
		}
		for _, text := range changes.Texts {
			out(family.StreamSystem, "Would change: "+text)
		}
		if changes.More > 0 {
			out(family.StreamSystem, fmt.Sprintf("… and %d more.", changes.More))
		}
		if len(changes.Texts) == 0 {
			out(family.StreamSystem, "No changes.")
		}
		r.Changes = &changes
		return nil
	})
}
