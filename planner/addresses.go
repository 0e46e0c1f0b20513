package planner

import (
	"cmp"
	"slices"

	"muster/app"
)

// everywhere begins the ids of joins that join what is done on all nodes.
const everywhere = "all"

// named returns the services of the cluster among those whose names or addresses the configuration speaks of.
func (s *services) named(references []string) []*service {
	var named []*service
	for _, name := range references {
		if i, ok := s.byName[name]; ok {
			named = append(named, s.list[i])
		}
	}
	return named
}

// await lets the first service actions wait until all machines are confirmed whose names or addresses the
// configuration speaks of. All later ones come after those. Confirm returns the step that confirms a node's machine, if there
// is one.
func (g *graph) await(prefix string, named []*service, confirm func(node int) (int, bool), first []int) {
	if len(named) == 0 || len(first) == 0 {
		return
	}
	// Large sets come first, since they may cover the small ones.
	slices.SortStableFunc(named, func(a, b *service) int { return cmp.Compare(len(b.nodes), len(a.nodes)) })
	covered := make([]bool, len(g.nodes))
	var needs []int
	for _, a := range named {
		var confirms []int
		fresh := false
		for _, n := range a.nodes {
			if step, ok := confirm(n); ok {
				confirms = append(confirms, step)
				fresh = fresh || !covered[n]
				covered[n] = true
			}
		}
		switch {
		case !fresh:
		case len(confirms) > 1 && len(first) > 1:
			needs = append(needs, g.join(prefix, a.name, app.ActionConfirm, confirms...))
		default:
			needs = append(needs, confirms...)
		}
	}
	if len(needs) > 1 && len(first) > 1 {
		needs = []int{g.join(prefix, "", app.ActionConfirm, needs...)}
	}
	for _, step := range first {
		for _, n := range needs {
			if g.steps[n].Join || g.steps[n].Node != g.steps[step].Node { // its own machine is confirmed already
				g.need(step, n)
			}
		}
	}
}
