package planner

import (
	"cmp"
	"slices"

	"muster/app"
)

// await lets the first service actions wait until all machines are confirmed whose names or addresses the
// configuration speaks of. All later ones come after those.
func (c *creation) await(references []string) {
	var named []*service
	for _, name := range references {
		if i, ok := c.byName[name]; ok {
			named = append(named, c.list[i])
		}
	}
	if len(named) == 0 || len(c.first) == 0 {
		return
	}
	// Large sets come first, since they may cover the small ones.
	slices.SortStableFunc(named, func(a, b *service) int { return cmp.Compare(len(b.nodes), len(a.nodes)) })
	covered := make([]bool, len(c.nodes))
	var needs []int
	for _, a := range named {
		var confirms []int
		fresh := false
		for _, n := range a.nodes {
			confirms = append(confirms, c.confirm[n])
			fresh = fresh || !covered[n]
			covered[n] = true
		}
		switch {
		case !fresh:
		case len(confirms) > 1 && len(c.first) > 1:
			needs = append(needs, c.join(a.name, app.ActionConfirm, confirms...))
		default:
			needs = append(needs, confirms...)
		}
	}
	if len(needs) > 1 && len(c.first) > 1 {
		needs = []int{c.join("", app.ActionConfirm, needs...)}
	}
	for _, step := range c.first {
		for _, n := range needs {
			if c.steps[n].Join || c.steps[n].Node != c.steps[step].Node { // its own machine is confirmed already
				c.need(step, n)
			}
		}
	}
}
