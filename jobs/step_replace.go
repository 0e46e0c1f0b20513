package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
)

const (
	// maxMachines is how many machines are created for a node, the first one included, before a person has to look.
	maxMachines = 3
	// replaceShare is the part of a confirm's time that is kept for deleting the machine.
	replaceShare = 5
	// reasonReplaced marks an attempt after which the node gets another machine.
	reasonReplaced = "machine_replaced"
)

// replaces reports whether a machine that does not come may be replaced: only one that never was a node, so that nothing of anyone's is on it.
func replaces(as *execution.Assignment) bool {
	return as.Node.Status == app.NodeCreated && as.FromPool == nil && as.Node.TakenFrom == "" && as.Machine.Intent != "" && as.Timeout > 0
}

// numberOf tells which machine of the node this is, counted from 1 since the operation was last resumed.
func numberOf(as *execution.Assignment) int { return 1 + len(as.Replacements) }

// hopeless reports whether a failed wait is the machine's own fault, so that another one may do better. A host key that is not the expected one is none
// of these: someone may be
// in between, and a person has to look. A key that is refused may be the image's fault, which the next machine shows: there is one more try.
func hopeless(as *execution.Assignment, err error) bool {
	switch e := app.AsError(err); {
	case e.Reason == reasonGone, e.Reason == reasonDown:
		return true
	case e.Reason == reasonNoAddress:
		return as.Tries > 1 // real hardware may take a quarter of an hour until it runs
	case e.Code == app.ETimeout:
		return as.Node.Address(app.AddressAccess) != "" && e.Reason == "" && errors.Is(err, context.DeadlineExceeded)
	case e.Code == app.ECredentials && e.Reason == "auth_refused":
		return numberOf(as) == 1
	}
	return false
}

// replace deletes a new machine that did not come, so that the next attempt creates another. The last one is kept for people to look at.
// Every machine of the node carries the same intent, which was written down before the first of them was asked for: whatever is interrupted here, the
// next attempt, a
// deletion, or the reconciler finds what there is.
func (w *actions) replace(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report, cause error) error {
	if !replaces(as) || ctx.Err() != nil || !hopeless(as, cause) {
		return cause
	}
	e := app.AsError(cause)
	if numberOf(as) >= maxMachines {
		last := *e
		last.Code, last.Reason = app.ETimeout, reasonTimeLimit
		last.Message = fmt.Sprintf("%d machines were created for this node, one after another, but none came up. The last one: %s", maxMachines, e.Message)
		last.Hint = "The last machine is kept so that you can check its console and the image's SSH settings. Resume to try again with new machines."
		return &last
	}
	out(family.StreamSystem, e.ForPeople())
	id := as.Node.MachineID
	if as.KeepFailed && numberOf(as) == 1 && e.Reason != reasonGone && e.Reason != reasonDown {
		return &app.Error{Code: app.ETransient, Reason: execution.ReasonKept,
			Message: fmt.Sprintf("Machine %s didn't come up and is to be kept for inspection. Creating another (machine 2 of at most %d). %s", id, maxMachines,
				e.Message)}
	}
	if err := w.delete(ctx, as, out, r); err != nil {
		return fmt.Errorf("machine %s didn't come up and will be replaced: %w", id, err)
	}
	r.Machine = nil
	gone := fleet.SeenMachine(family.Machine{ID: id, Zone: as.Node.Zone}, as.Machine.Flavor.CostPerHour)
	gone.Deleted = true
	see(r, gone)
	return &app.Error{Code: app.ETransient, Reason: reasonReplaced,
		Message: fmt.Sprintf("Machine %s didn't come up and was deleted. Creating another (machine %d of at most %d). %s", id, numberOf(as)+1, maxMachines, e.Message)}
}

// replacement sees to it that a node has a machine again whose new machine was deleted, by an earlier attempt or by someone else. What earlier attempts
// created is looked for before another is asked for.
func (w *actions) replacement(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) error {
	if !replaces(as) {
		return nil
	}
	was := as.Node.MachineID
	if was != "" { // else it was kept for inspection
		if as.Tries < 2 {
			return nil
		}
		if _, err := p.Describe(ctx, was); app.CodeOf(err) != app.ENotFound {
			return nil // it is there, or cannot be looked at now, which the wait for it says
		}
	}
	m, found, err := earlier(ctx, p, as, out, r)
	if err != nil {
		return err
	}
	if !found {
		if numberOf(as) >= maxMachines {
			return nil
		}
		if m, err = makeMachine(ctx, p, as, out, r); err != nil {
			return err
		}
	}
	if was == "" {
		out(family.StreamSystem, fmt.Sprintf("Machine %s replaces the one that is kept for inspection.", m.ID))
	} else {
		out(family.StreamSystem, fmt.Sprintf("Machine %s replaces %s, which was deleted.", m.ID, was))
	}
	see(r, fleet.SeenMachine(m, as.Machine.Flavor.CostPerHour))
	if !slices.Contains(as.Replacements, m.ID) {
		as.Replacements = append(slices.Clone(as.Replacements), m.ID)
	}
	as.Node.MachineID, as.Node.Addresses, as.Node.HostKey = m.ID, m.Addresses, m.HostKey
	return nil
}
