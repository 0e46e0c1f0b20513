package jobs

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/internal/loop"
)

// sleeper returns the provider of a step, which has to be able to stop machines.
func (w *actions) sleeper(ctx context.Context, as *execution.Assignment) (family.Provider, family.Sleeper, error) {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return nil, nil, err
	}
	s, ok := p.(family.Sleeper)
	if !ok {
		return nil, nil, &app.Error{Code: app.EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf("Provider %s can't stop and keep machines.", as.Provider.Name)}
	}
	return p, s, nil
}

// sleep stops the machine of a node and waits until its provider says that it is stopped. Nothing of it goes.
func (w *actions) sleep(ctx context.Context, as *execution.Assignment, out family.Output) error {
	p, s, err := w.sleeper(ctx, as)
	if err != nil {
		return err
	}
	if err := s.Sleep(ctx, as.Node.MachineID); err != nil {
		return fmt.Errorf("%s: sleep: %w", as.Provider.Name, err)
	}
	for try := 1; ; try++ {
		m, err := p.Describe(ctx, as.Node.MachineID)
		switch {
		case err != nil:
			return fmt.Errorf("%s: describe: %w", as.Provider.Name, err)
		case m.State == family.MachineStopped:
			out(family.StreamSystem, "Machine "+m.ID+" is stopped and kept.")
			return nil
		}
		if loop.Pause(ctx, min(loop.BackOff(firstLook, try), longPause)) != nil {
			return app.Errorf(app.ETimeout, "Machine %s didn't stop.", as.Node.MachineID)
		}
	}
}

// wake starts the machine of a node again and waits until it has an address, which may be another one than before.
func (w *actions) wake(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	p, s, err := w.sleeper(ctx, as)
	if err != nil {
		return err
	}
	if err := s.Wake(ctx, as.Node.MachineID); err != nil {
		return fmt.Errorf("%s: wake: %w", as.Provider.Name, err)
	}
	m, err := awaitAddress(ctx, p, as, newProgress(out))
	if err != nil {
		return fmt.Errorf("%s: describe: %w", as.Provider.Name, err)
	}
	r.Machine = &m
	out(family.StreamSystem, "Machine "+m.ID+" is running again.")
	return setName(ctx, p, as, m, out)
}
