package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
)

func listIntent(ctx context.Context, p app.Provider, as *app.Assignment) ([]app.Machine, error) {
	made, err := p.List(ctx, intentTags(as.Machine.Tags))
	if err != nil {
		return nil, fmt.Errorf("%s: list: %w", as.Provider.Name, err)
	}
	return made, nil
}

func intentTags(tags map[string]string) map[string]string {
	return map[string]string{app.TagInstallation: tags[app.TagInstallation], app.TagIntent: tags[app.TagIntent]}
}

// How long to wait between looks at a provider: at first, and at most.
const (
	firstLook = 100 * time.Millisecond
	longPause = 5 * time.Second
)

// confirm waits until the machine has an address, answers, and has proved who it is.
func (w *Worker) confirm(ctx context.Context, as *app.Assignment, out app.Output, r *app.Report) error {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	m, err := awaitAddress(ctx, p, as)
	if err != nil {
		return fmt.Errorf("%s: describe: %w", as.Provider.Name, err)
	}
	n := as.Node
	n.Addresses, n.SSHPort = m.Addresses, m.SSHPort
	if m.SSHUser != "" {
		n.SSHUser = m.SSHUser
	}
	if m.HostKey != "" {
		n.HostKey = m.HostKey
	}
	as.Node = n
	r.Machine = &m
	if err := setName(ctx, p, as, m, out); err != nil {
		return err
	}
	if as.FromPool != nil {
		r.Pooled = true
		return w.takeOver(ctx, as, out, r)
	}
	return w.awaitLogin(ctx, as, out, r)
}

// absentGrace is how long a machine that was just made may be unknown to its own provider.
const absentGrace = 30 * time.Second

// awaitAddress asks the provider until the machine runs and has an address.
func awaitAddress(ctx context.Context, p app.Provider, as *app.Assignment) (app.Machine, error) {
	began := time.Now()
	for try := 1; ; try++ {
		m, err := p.Describe(ctx, as.Node.MachineID)
		if err != nil {
			switch code := app.CodeOf(err); {
			case app.AsError(err).RetryAfter > longPause: // others can use the slot until then
				return m, err
			case code == app.ETransient, code == app.ERateLimit, code == app.ENotFound && time.Since(began) < absentGrace:
			default:
				return m, err
			}
		} else if m.State == app.MachineStopped {
			return m, app.Errorf(app.ENotFound, "Machine %s has stopped and does not come up.", m.ID)
		} else if m.State == app.MachineRunning && m.Addresses[app.AddressAccess]+m.Addresses[app.AddressBind] != "" {
			return m, nil
		}
		if pause(ctx, min(backOff(firstLook, try), longPause)) != nil {
			return m, app.Errorf(app.ETimeout, "Machine %s did not come up.", as.Node.MachineID)
		}
	}
}

// awaitLogin logs in until it works. The connection is kept for the node's next steps.
func (w *Worker) awaitLogin(ctx context.Context, as *app.Assignment, out app.Output, r *app.Report) error {
	t := w.target(as, as.SSHKey)
	key, err := w.awaited(ctx, t)
	if err != nil {
		return err
	}
	if t.HostKey == "" {
		r.HostKey = key
		out(app.StreamSystem, "The host key was pinned at first contact.")
	}
	out(app.StreamSystem, fmt.Sprintf("%s answers at %s.", as.Node.Hostname, t))
	return nil
}

// goneLooks is how often a deleted machine is looked for before its going is called failed for now.
const goneLooks = 20

// delete removes every machine that carries the node's intent, whether or not we ever learned its id, and proves with
// the provider's own list that none is left: twice where the provider lists late.
func (w *Worker) delete(ctx context.Context, as *app.Assignment, out app.Output, r *app.Report) error {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	waited := false
	for try := 1; ; try++ {
		left, err := listIntent(ctx, p, as)
		if err != nil {
			return err
		}
		late := app.ListsLate(p)
		ids := make([]string, 0, len(left)+1)
		for _, m := range left {
			ids = append(ids, m.ID)
			see(r, app.SeenMachine(m, as.Machine.Flavor.CostPerHour))
		}
		if try == 1 && as.Node.MachineID != "" && len(left) == 0 {
			ids = append(ids, as.Node.MachineID) // perhaps not listed (yet)
		}
		if len(ids) == 0 && (late == 0 || waited) {
			for i := range r.Seen {
				r.Seen[i].Gone = true
			}
			out(app.StreamSystem, "The provider has nothing of this node any more.")
			return nil
		}
		if try > goneLooks {
			return app.Errorf(app.ETransient, "%s still lists %v after it was deleted.", as.Provider.Name, ids)
		}
		for _, id := range ids {
			if err := p.Delete(ctx, id); err != nil {
				return fmt.Errorf("%s: delete %s: %w", as.Provider.Name, id, err)
			}
			out(app.StreamSystem, "Machine "+id+" was deleted.")
		}
		switch {
		case late > 0:
			waited = true
			err = pause(ctx, late)
		case try > 1:
			err = pause(ctx, min(backOff(firstLook, try), longPause))
		}
		if err != nil {
			return err
		}
	}
}

// see notes a machine once.
func see(r *app.Report, x app.Seen) {
	if !slices.ContainsFunc(r.Seen, func(y app.Seen) bool { return y.ID == x.ID }) {
		r.Seen = append(r.Seen, x)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
