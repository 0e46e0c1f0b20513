package planner

import (
	"slices"

	"muster/app/plan"
)

// Why tells in plain words why a step waits for another, both being indexes into the plan's steps and the second one of
// the first one's needs. It is "" for any other pair.
func Why(p plan.Plan, step, need int) string {
	if step < 0 || step >= len(p.Steps) || !slices.Contains(p.Steps[step].Needs, need) {
		return ""
	}
	return why(p, step, need, func(node string) []string { return servicesOn(p, node) })
}

// servicesOn returns the services that have steps on a node, sorted.
func servicesOn(p plan.Plan, node string) []string {
	var on []string
	for _, s := range p.Steps {
		if s.Node == node && s.Service != "" {
			on = append(on, s.Service)
		}
	}
	return set(on)
}
