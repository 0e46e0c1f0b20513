package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
)

// isolates reports whether a plan is for machines that are kept for inspection.
func isolates(r plan.Request) bool {
	return slices.ContainsFunc(r.Nodes, func(n plan.Node) bool { return n.Kept })
}

// isolate plans what is done to machines that are kept for inspection: they are closed to all but SSH. What runs on them stays as it is.
func isolate(g *graph, r plan.Request) error {
	for n, node := range r.Nodes {
		if !node.Kept {
			return refuse("node", "Node %s isn't kept for inspection, unlike others of the plan.", node.Name)
		}
		g.act(n, "", app.ActionIsolate)
	}
	return nil
}
