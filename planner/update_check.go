package planner

import (
	"maps"
	"slices"

	"muster/app/plan"
)

// works are the kinds of work.
var works = []plan.ServiceWork{plan.WorkConfigure, plan.WorkReload, plan.WorkRestart, plan.WorkStop, plan.WorkStart, plan.WorkUpgrade, plan.WorkCompare, plan.WorkStopConfigure}

// checkUpdate refuses nodes that say what does not fit together: EInvalid, reason "change".
func checkUpdate(r plan.Request) error {
	if r.Batch < 0 {
		return refuse("change", "Batch must be at least 1 node, not %d.", r.Batch)
	}
	for _, n := range r.Nodes {
		switch n.Change {
		case "":
		case plan.NodeNew, plan.NodeGone, plan.NodeReplaced:
			if len(n.Added)+len(n.Removed)+len(n.Work) > 0 {
				return refuse("change", "%s is %s as a whole, so its services can't be changed separately.", n.Name, n.Change)
			}
		default:
			return refuse("change", "Unknown change for node %s: %q.", n.Name, n.Change)
		}
		has := func(list []string, name string) bool { _, ok := slices.BinarySearch(list, name); return ok }
		for _, name := range n.Added {
			if !has(n.Services, name) {
				return refuse("change", "%s is added to %s but isn't in its resulting services.", name, n.Name)
			}
		}
		for _, name := range n.Removed {
			if has(n.Services, name) {
				return refuse("change", "%s is removed from %s but is still in its resulting services.", name, n.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.Work)) {
			switch {
			case !has(n.Services, name) || has(n.Added, name):
				return refuse("change", "%s can't be changed on %s: the service must be there before and after.", name, n.Name)
			case !slices.Contains(works, n.Work[name]):
				return refuse("change", "Unknown work for %s on %s: %q.", name, n.Name, n.Work[name])
			}
		}
	}
	return nil
}
