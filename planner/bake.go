package planner

import (
	"slices"

	"muster/app"
	appplan "muster/app/plan"
)

// bakes adds a step that makes an image of a machine, behind all that is done on it.
func (c *creation) bakes() {
	for n, node := range c.nodes {
		if !node.Bakes {
			continue
		}
		var all []int
		for i, s := range c.steps {
			if s.Node == node.Name && !s.Join {
				all = append(all, i)
			}
		}
		step := c.act(n, "", app.ActionBake)
		c.need(step, c.lastOf(all)...)
	}
}

// withoutBaked takes out of a finished plan what is in the images that its new machines start from: whatever waited for such an install waits for what
// that waited for.
func withoutBaked(p *appplan.Plan, r appplan.Request) {
	baked := map[string][]string{}
	for _, n := range r.Nodes {
		if len(n.Baked) > 0 {
			baked[n.Name] = n.Baked
		}
	}
	if len(baked) == 0 {
		return
	}
	before := p.Expects.Typical
	var kept []appplan.Step
	index := make([]int, len(p.Steps))     // of those that stay: where
	instead := make([][]int, len(p.Steps)) // of those that go: what is waited for in their place
	gone := make([]bool, len(p.Steps))     //
	for i, s := range p.Steps {
		var needs []int
		for _, n := range s.Needs {
			if gone[n] {
				needs = append(needs, instead[n]...)
			} else {
				needs = append(needs, index[n])
			}
		}
		slices.Sort(needs)
		needs = slices.Compact(needs)
		if !s.Join && s.Action == app.ActionInstall && slices.Contains(baked[s.Node], s.Service) {
			gone[i], instead[i] = true, needs
			continue
		}
		if s.Needs = needs; len(needs) == 0 {
			s.Needs = nil
		}
		index[i] = len(kept)
		kept = append(kept, s)
	}
	p.Steps, p.Baked = kept, baked
	expect(p, r)
	p.Saves = max(0, before-p.Expects.Typical)
}
