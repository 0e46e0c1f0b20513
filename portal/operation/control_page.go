package operation

import (
	"fmt"
	"slices"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/plan"
	"muster/portal/cluster"
	"muster/portal/page"
)

// RollBack is the confirmation page for a rollback.
type RollBack struct {
	View    appcluster.View
	Preview operation.RollBackPreview
	Notice  string
}

// stepsShown is how many steps of a rollback are listed.
const stepsShown = 20

// Sentence says what remains afterwards.
func (b RollBack) Sentence() string {
	p := b.Preview
	var s string
	switch n := len(p.Deletes); {
	case n == 0 && len(p.Kept.Machines) > 0:
		s = "No machines will be deleted."
	case n == 0 && p.DeletesCluster:
		s = "No machines were requested, so none will be deleted."
	case n == 0:
		s = "No machines were created, so none will be deleted."
	default:
		s = fmt.Sprintf("%s will be deleted, with all data on %s: %s.", humanize.Count(n, "machine"), cluster.Pronoun(n), humanize.Some(p.Deletes, 8))
		if p.Unchanged > 0 && p.DeletesCluster {
			s += fmt.Sprintf(" %s never requested.", humanize.CountOf(p.Unchanged, "other was", "others were"))
		}
	}
	if p.DeletesCluster {
		return s + " The cluster will be deleted. This can't be undone."
	}
	return s + " The rest of the cluster will be restored to its previous state."
}

// Steps are the first steps of the plan, in words; none if it only deletes machines, which the sentence says.
func (b RollBack) Steps() []string {
	if b.deletesOnly() {
		return nil
	}
	var out []string
	for _, s := range b.Preview.Plan.Steps {
		if !s.Join && len(out) < stepsShown && !b.keeps(s) {
			out = append(out, page.StepWords(s.Node, s.Action, s.Service))
		}
	}
	return out
}

// More counts the steps that aren't listed.
func (b RollBack) More() int {
	if b.deletesOnly() {
		return 0
	}
	return max(0, b.Preview.Plan.Acts()-len(b.Preview.Kept.Machines)-stepsShown)
}

// deletesOnly reports whether the plan does nothing but delete machines, or leaves them to be kept.
func (b RollBack) deletesOnly() bool {
	return b.Preview.Plan.Acts() == len(b.Preview.Deletes)+len(b.Preview.Kept.Machines)
}

// keeps reports whether a step deletes a machine that is kept: it finds none.
func (b RollBack) keeps(s plan.Step) bool {
	return s.Action == app.ActionDelete && slices.Contains(b.Preview.Plan.Keeps, s.Node)
}

// deletesWords says what a delete deletes.
func deletesWords(c cluster.Show) string {
	n := len(c.Machines())
	if n == 0 {
		return "No machines have been created yet. This can't be undone."
	}
	return fmt.Sprintf("This deletes %s and all data on %s. It can't be undone.", humanize.Count(n, "machine"), cluster.Pronoun(n))
}

// machinesSentence says which machines exist.
func machinesSentence(c cluster.Show) string {
	names := c.Machines()
	switch op := c.Current(); {
	case op.Kind == app.OperationDelete || op.Kind == app.OperationRollBack:
		return fmt.Sprintf("Machines already deleted can't be restored; %s left.", humanize.CountOf(len(names), "machine is", "machines are"))
	case len(names) == 0:
		return "No machines have been requested yet."
	}
	return fmt.Sprintf("%s been requested so far: %s.", humanize.CountOf(len(names), "machine has", "machines have"), humanize.Some(names, 8))
}

// undoable reports whether the operation can be rolled back once cancelled.
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

// undoneWords says what a rollback of the operation does.
func undoneWords(c cluster.Show) string {
	if c.Current().Kind == app.OperationCreate {
		return "Deletes the machines created so far and the cluster."
	}
	return "Restores configuration, services and nodes to their previous state."
}
