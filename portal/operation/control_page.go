package operation

import (
	"fmt"

	appcluster "muster/app/cluster"
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
		s = fmt.Sprintf("%s deleted, with all data on %s: %s.", page.CountOf(n, "machine is", "machines are"), cluster.ItOrThem(n), page.Few(p.GivesBack, 8))
		if p.Untouched > 0 && p.Gone {
			s += fmt.Sprintf(" %s never requested.", page.CountOf(p.Untouched, "other was", "others were"))
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
