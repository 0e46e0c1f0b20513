package jobs

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// isolate closes a machine that is kept for inspection to all but SSH, by the firewall of the cluster of its own that it is in, and has it carry that
// cluster's tags. What runs on it stays as it is. Where the provider makes no firewalls, the log says so and the step has succeeded: the machine is
// kept all the same.
func (w *actions) isolate(ctx context.Context, as *execution.Assignment, out family.Output) error {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	m, err := p.Describe(ctx, as.Node.MachineID)
	if err != nil {
		return fmt.Errorf("%s: describe: %w", as.Provider.Name, err)
	}
	a, adopts := family.PowerOf[family.Adopter](p)
	_, makes := family.PowerOf[family.Sharer](p)
	open := fmt.Sprintf("Provider %s doesn't make firewalls, so the machine is open to whatever its network allows.", as.Provider.Name)
	if !adopts {
		out(family.StreamSystem, open)
		return nil
	}
	switch err := a.Adopt(ctx, m.ID, as.Machine); {
	case err != nil && (makes || app.CodeOf(err) == app.ETransient || app.CodeOf(err) == app.ENotFound || ctx.Err() != nil):
		return fmt.Errorf("%s: isolate %s: %w", as.Provider.Name, m.ID, err)
	case err != nil:
		out(family.StreamSystem, "The provider kept the machine's old tags: "+app.AsError(err).ForPeople())
	}
	if makes {
		out(family.StreamSystem, "The machine's firewall is closed to all but SSH.")
	} else {
		out(family.StreamSystem, open)
	}
	return nil
}
