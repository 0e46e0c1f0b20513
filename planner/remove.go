package planner

import (
	"muster/app"
	"muster/app/plan"
)

// remove plans the end of a cluster: every machine is given back, all at once and whatever its services do.
func remove(g *graph, r plan.Request) error {
	for n := range r.Nodes {
		g.act(n, "", app.ActionDelete)
	}
	return nil
}
