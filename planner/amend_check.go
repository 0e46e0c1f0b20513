package planner

import (
	"maps"
	"slices"

	"muster/app/plan"
)

// works are the kinds of work.
var works = []plan.ServiceWork{plan.WorkConfigure, plan.WorkReload, plan.WorkRestart, plan.WorkStop, plan.WorkStart, plan.WorkUpgrade, plan.WorkCompare, plan.WorkStopConfigure}

// checkAmendment refuses nodes that say what does not fit together: EInvalid, reason "change".
func checkAmendment(r plan.PlanRequest) error {
	if r.Batch < 0 {
		return refuse("change", "A batch cannot be of %d nodes.", r.Batch)
	}
	for _, n := range r.Nodes {
		switch n.Change {
		case "":
		case plan.NodeNew, plan.NodeGone, plan.NodeReplaced:
			if len(n.Added)+len(n.Removed)+len(n.Work) > 0 {
				return refuse("change", "%s is %s as a whole, so nothing can be said of single services on it.", n.Name, n.Change)
			}
		default:
			return refuse("change", "%s is to become %q, which is not known.", n.Name, n.Change)
		}
		has := func(list []string, name string) bool { _, ok := slices.BinarySearch(list, name); return ok }
		for _, name := range n.Added {
			if !has(n.Services, name) {
				return refuse("change", "%s is added to %s but is not there afterwards.", name, n.Name)
			}
		}
		for _, name := range n.Removed {
			if has(n.Services, name) {
				return refuse("change", "%s is removed from %s but is there afterwards.", name, n.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.Work)) {
			switch {
			case !has(n.Services, name) || has(n.Added, name):
				return refuse("change", "Something is to be done to %s on %s, which does not have it all the time.", name, n.Name)
			case !slices.Contains(works, n.Work[name]):
				return refuse("change", "What is to be done to %s on %s is not known: %q.", name, n.Name, n.Work[name])
			}
		}
	}
	return nil
}
