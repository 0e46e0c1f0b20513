package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/jobs/internal/loop"
)

func listIntent(ctx context.Context, p family.Provider, as *execution.Assignment) ([]family.Machine, error) {
	made, err := p.List(ctx, intentTags(as.Machine.Tags))
	if err != nil {
		return nil, fmt.Errorf("%s: list: %w", as.Provider.Name, err)
	}
	return made, nil
}

func intentTags(tags map[string]string) map[string]string {
	return map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagIntent: tags[family.TagIntent]}
}

// How long to wait between looks at a provider: at first, and at most.
const (
	firstLook = 100 * time.Millisecond
	longPause = 5 * time.Second
)

// goneLooks is how often a deleted machine is looked for before its going is called failed for now.
const goneLooks = 20

// delete removes every machine that carries the node's intent, whether or not we ever learned its id, and proves with
// the provider's own list that none is left: twice where the provider lists late.
func (w *actions) delete(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
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
		late := family.ListsLate(p)
		ids := make([]string, 0, len(left)+1)
		for _, m := range left {
			ids = append(ids, m.ID)
			see(r, fleet.SeenMachine(m, as.Machine.Flavor.CostPerHour))
		}
		if try == 1 && as.Node.MachineID != "" && len(left) == 0 {
			ids = append(ids, as.Node.MachineID) // perhaps not listed (yet)
		}
		if len(ids) == 0 && (late == 0 || waited) {
			for i := range r.Seen {
				r.Seen[i].Deleted = true
			}
			out(family.StreamSystem, "The provider lists nothing for this node.")
			return nil
		}
		if try > goneLooks {
			return app.Errorf(app.ETransient, "%s still lists %v after deletion.", as.Provider.Name, ids)
		}
		for _, id := range ids {
			if err := p.Delete(ctx, id); err == nil {
				out(family.StreamSystem, "Machine "+id+" was deleted.")
			} else if gone(ctx, p, id, err) {
				out(family.StreamSystem, "Machine "+id+" no longer exists.")
			} else {
				return fmt.Errorf("%s: delete %s: %w", as.Provider.Name, id, err)
			}
		}
		switch {
		case late > 0:
			waited = true
			err = loop.Pause(ctx, late)
		case try > 1:
			err = loop.Pause(ctx, min(loop.BackOff(firstLook, try), longPause))
		}
		if err != nil {
			return err
		}
	}
}

// gone reports whether a machine that could not be deleted is not there at all, so that there was nothing to refuse: a provider may trip over what went
// with it. Where it
// cannot be looked at, it counts as there.
func gone(ctx context.Context, p family.Provider, id string, refused error) bool {
	switch app.CodeOf(refused) {
	case app.ENotFound, app.EInvalid, app.EConflict, app.EInternal:
		_, err := p.Describe(ctx, id)
		return app.CodeOf(err) == app.ENotFound
	}
	return false
}

// see notes a machine once.
func see(r *execution.Report, x app.Seen) {
	if !slices.ContainsFunc(r.Seen, func(y app.Seen) bool { return y.ID == x.ID }) {
		r.Seen = append(r.Seen, x)
	}
}
