package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/volume"
	"muster/jobs/budget"
)

// create asks the provider for the machine, unless an earlier attempt has made it. Where an earlier one may have asked, its
// answer may have been lost, and asking twice would make two: so it is looked for by the intent's tag first, twice where
// the provider lists late.
func (w *actions) create(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	r.Unasked = true
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	var m family.Machine
	found := false
	if !as.Unasked {
		if m, found, err = earlier(ctx, p, as, out, r); err != nil {
			return err
		}
	}
	if found {
		if as.FromPool != nil && m.ID == as.Node.MachineID {
			out(family.StreamSystem, fmt.Sprintf("Took machine %s from %s.", m.ID, as.FromPool.Words()))
			r.Pooled = true
		} else {
			out(family.StreamSystem, "An earlier attempt created machine "+m.ID+".")
		}
		if err := adopt(ctx, p, as, &m, out); err != nil {
			return err
		}
	} else {
		if as.Unasked {
			if err := w.before.look(ctx, p, as, out); err != nil {
				return fmt.Errorf("%s: %w", as.Provider.Name, err)
			}
		}
		if m, err = makeMachine(ctx, p, as, out, r); err != nil {
			return err
		}
		out(family.StreamSystem, fmt.Sprintf("%s created machine %s%s%s.", as.Provider.Name, m.ID, inZone(m.Zone), inWords(m.Note)))
	}
	r.Unasked = false
	r.Machine = &m
	r.Seen = append(r.Seen, fleet.SeenMachine(m, as.Machine.Flavor.CostPerHour))
	return nil
}

// makeMachine asks for a new machine. A refusal for want of room is a clear answer, nothing was made, so the provider's other zones
// are asked in the same attempt, unless the layout wants the machine in one of them. Where nowhere is room, the error says
// where it was looked for, and the policy lets some time pass before all of them are asked again, or,
// where the template names other hardware, the server hands out the step with that. Another provider is never tried.
func makeMachine(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) (family.Machine, error) {
	spec := as.Machine
	ctx = family.WithProgress(ctx, out)
	seen, err := volumesFirst(ctx, p, as, out, r)
	if err != nil {
		return family.Machine{}, err
	}
	for _, x := range seen {
		i := slices.IndexFunc(as.Volumes, func(v volume.ForStep) bool { return v.ID == x.ID })
		spec.Volumes = append(spec.Volumes, family.VolumeAttachment{Volume: x.External, Mount: as.Volumes[i].Mount})
	}
	var tried []string
	for _, zone := range places(as) {
		spec.Zone = zone
		m, err := createFrom(ctx, p, spec, as, out, r)
		if err == nil {
			for _, x := range seen {
				x.Machine = m.ID
				seeVolume(r, x)
			}
			return m, nil
		}
		e := app.AsError(err)
		if e.Reason != budget.Reason {
			r.Unasked = false
		}
		if tried = append(tried, placeWords(zone)); ruleFor(e).verdict != elsewhere {
			return m, fmt.Errorf("%s: create: %w", as.Provider.Name, err)
		}
		out(family.StreamSystem, fmt.Sprintf("No capacity %s: %s", placeWords(zone), e.ForPeople()))
		if len(tried) == len(places(as)) {
			full := *e
			full.Message = fmt.Sprintf("%s has no capacity for flavor %q (tried %s): %s", as.Provider.Name, spec.Flavor.Flavor,
				strings.Join(tried, ", "), e.Message)
			return m, &full
		}
	}
	return family.Machine{}, app.Errorf(app.EInternal, "no zone to request a machine in") // places is never empty
}

// createFrom asks for a machine from the baked image of its node, or from the catalog's own where there is none, or the provider doesn't have it any more or
// can't start a machine from it: its installs are run in its bootstrap then.
func createFrom(ctx context.Context, p family.Provider, spec family.MachineSpec, as *execution.Assignment, out family.Output,
	r *execution.Report) (family.Machine, error) {
	if as.Baked == nil || as.Baked.Image == "" || r.Image != nil && r.Image.Gone {
		return p.Create(ctx, spec)
	}
	r.Image = &execution.ImageReport{Image: as.Baked.Image}
	base := spec.Image.Image
	spec.Image.Image = as.Baked.Image
	m, err := p.Create(ctx, spec)
	switch app.CodeOf(err) {
	case app.ENotFound, app.EInvalid:
		out(family.StreamSystem, fmt.Sprintf("Baked image %s can't be used, so the machine starts from image %s: %s", as.Baked.Image, base,
			app.AsError(err).ForPeople()))
		spec.Image.Image = base
		if m, err = p.Create(ctx, spec); err == nil {
			r.Image.Gone = true
		} else {
			r.Image = nil // it is something else that the provider refuses
		}
		return m, err
	case "":
		out(family.StreamSystem, "The machine starts from baked image "+as.Baked.Image+".")
	}
	return m, err
}

// places are the zones to ask, in order: the one that the layout wants, or else whichever the provider chooses and then
// its others by name, beginning at another one for each node, so that a full zone is not asked by all at once.
func places(as *execution.Assignment) []string {
	if as.Machine.Zone != "" {
		return []string{as.Machine.Zone}
	}
	out, zones := []string{""}, as.Provider.Zones
	for i := range zones {
		out = append(out, zones[(i+app.NodeNumber(as.Node.Name))%len(zones)])
	}
	return out
}

func placeWords(zone string) string {
	if zone == "" {
		return "where the provider chose"
	}
	return "in zone " + zone
}

func inZone(zone string) string {
	if zone == "" {
		return ""
	}
	return " in zone " + zone
}

// earlier looks for machines that earlier attempts have made. Of several the one that the ledger knows is kept, or else
// the oldest; the others, and those that do not run, are given back.
func earlier(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) (kept family.Machine, found bool, err error) {
	made, err := listIntent(ctx, p, as)
	if err != nil {
		return kept, false, err
	}
	if late := family.ListsLate(p); len(made) == 0 && late > 0 {
		out(family.StreamSystem, fmt.Sprintf("An earlier attempt may have created a machine. %s can list machines %s late and may still be working on that request, "+
			"so Muster checks several times.", as.Provider.Name, humanize.Duration(late)))
		err := family.AfterLost(ctx, 0, late, func() (bool, error) {
			made, err = listIntent(ctx, p, as)
			return len(made) > 0, err
		})
		if err != nil {
			return kept, false, err
		}
	}
	made = slices.Clone(made)
	slices.SortStableFunc(made, func(a, b family.Machine) int { return before(as.Node.MachineID, a, b) })
	for _, m := range made {
		if !found && m.State != family.MachineStopped {
			kept, found = m, true
			continue
		}
		why := "another machine of this node, created by an earlier attempt"
		if m.State == family.MachineStopped {
			why = "created by an earlier attempt, and stopped"
		}
		if err := p.Delete(ctx, m.ID); err != nil {
			return kept, false, fmt.Errorf("%s: delete %s: %w", as.Provider.Name, m.ID, err)
		}
		out(family.StreamSystem, fmt.Sprintf("Machine %s was deleted: %s.", m.ID, why))
		r.Seen = append(r.Seen, fleet.SeenMachine(m, as.Machine.Flavor.CostPerHour))
	}
	return kept, found, proveGone(ctx, p, as, r)
}

// before orders machines of one intent: the one that the ledger knows first, then by age, then by id.
func before(known string, a, b family.Machine) int {
	rank := func(m family.Machine) int {
		if known != "" && m.ID == known {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(a)-rank(b), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// proveGone marks those of the machines seen so far that a list does not show any more as gone. Those that it still shows
// are left to the reconciler.
func proveGone(ctx context.Context, p family.Provider, as *execution.Assignment, r *execution.Report) error {
	if len(r.Seen) == 0 {
		return nil
	}
	left, err := listIntent(ctx, p, as)
	if err != nil {
		return err
	}
	for i := range r.Seen {
		r.Seen[i].Deleted = !slices.ContainsFunc(left, func(m family.Machine) bool { return m.ID == r.Seen[i].ID })
	}
	return nil
}

func inWords(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}
