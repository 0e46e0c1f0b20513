package operation

import (
	"fmt"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/portal/cluster"
	"muster/portal/page"
)

// RollBack is what a roll-back would do.
type RollBack struct {
	View    appcluster.ClusterView
	Preview operation.RollBackPreview
	Notice  string
}

// stepsShown is how many steps of a roll-back are listed; machines are deleted all alike.
const stepsShown = 20

// Sentence says what is left afterwards.
func (b RollBack) Sentence() string {
	p := b.Preview
	var s string
	switch n := len(p.GivesBack); {
	case n == 0 && p.Gone:
		s = "No machine was requested, so there's nothing to delete."
	case n == 0:
		s = "It created no machines, so none are deleted."
	default:
		s = fmt.Sprintf("%s deleted, with all data on %s: %s.", humanize.CountOf(n, "machine is", "machines are"), cluster.ItOrThem(n), humanize.Some(p.GivesBack, 8))
		if p.Untouched > 0 && p.Gone {
			s += fmt.Sprintf(" %s never requested.", humanize.CountOf(p.Untouched, "other was", "others were"))
		}
	}
	if p.Gone {
		return s + " Nothing of the cluster remains. This can't be undone."
	}
	return s + " The rest of the cluster is restored to how it was before."
}

// Steps are the first steps of the plan, in words. Where machines are deleted and nothing else, the sentence says it.
func (b RollBack) Steps() []string {
	if b.Preview.Plan.Acts() == len(b.Preview.GivesBack) {
		return nil
	}
	var out []string
	for _, s := range b.Preview.Plan.Steps {
		if !s.Join && len(out) < stepsShown {
			out = append(out, page.StepWords(s.Node, s.Action, s.Service))
		}
	}
	return out
}

// More counts the steps that are not listed.
func (b RollBack) More() int {
	if b.Preview.Plan.Acts() == len(b.Preview.GivesBack) {
		return 0
	}
	return max(0, b.Preview.Plan.Acts()-stepsShown)
}

// deletesWords says what a delete takes.
func deletesWords(c cluster.Show) string {
	n := len(c.Machines())
	if n == 0 {
		return "No machine was created. This can't be undone."
	}
	return fmt.Sprintf("This deletes %s and all data on %s. It can't be undone.", humanize.Count(n, "machine"), cluster.ItOrThem(n))
}

// machinesSentence says what is there by now.
func machinesSentence(c cluster.Show) string {
	names := c.Machines()
	switch op := c.Current(); {
	case op.Kind == app.OperationDelete || op.Kind == app.OperationRollBack:
		return fmt.Sprintf("Machines already deleted can't be restored; %s left.", humanize.CountOf(len(names), "machine is", "machines are"))
	case len(names) == 0:
		return "No machine has been requested yet."
	}
	return fmt.Sprintf("%s requested so far: %s.", humanize.CountOf(len(names), "machine was", "machines were"), humanize.Some(names, 8))
}

// undoable tells whether the operation that would be cancelled can be rolled back then.
func undoable(c cluster.Show) bool {
	stopped := *c.Current()
	stopped.Status = app.OperationCancelled
	for _, a := range stopped.Acts(true) {
		if a == app.ActRollBack {
			return true
		}
	}
	return false
}

// undoneWords says what a roll-back of the operation leaves.
func undoneWords(c cluster.Show) string {
	if c.Current().Kind == app.OperationCreate {
		return "Deletes the machines created so far. Nothing of the cluster remains."
	}
	return "Restores configuration, services and nodes to how they were before."
}
