package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// again plans what comes up again: services that were only stopped, those that were removed, and nodes that were given back,
// whose machines are made again. It returns the last of these steps.
func (b *back) again(r plan.Request) ([]int, error) {
	up := map[placed][]app.Action{} // by service: what brings it up
	for at, d := range b.done {
		svc := b.services[at.service]
		lost, goes := b.lost[at.node]
		if b.graph.nodes[b.nodes[at.node]].Lost || !d.stood || lost || svc == nil || !goes && !d.only(app.ActionStop, app.ActionRemove) {
			continue
		}
		switch {
		case d.begun[app.ActionRemove]:
			up[at] = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart}
		case d.begun[app.ActionStop]:
			up[at] = []app.Action{app.ActionStart}
		}
	}
	recreated := false
	for name, lost := range b.lost {
		if lost {
			b.graph.nodes[b.nodes[name]].Change = plan.NodeReplaced
			recreated = true
		}
	}
	if len(up) == 0 && !recreated {
		return nil, nil
	}
	s, err := servicesOf(r)
	if err != nil {
		return nil, err
	}
	macros, err := template.ParseMacros(r.Config)
	if err != nil {
		return nil, err
	}
	a := &updatePlanner{graph: b.graph, services: s, named: s.named(macros.References()), bootstrap: map[int]int{}, unseen: true}
	w := a.wave(everywhere)
	for n, node := range a.nodes {
		if b.lost[node.Name] {
			w.make(n)
			continue
		}
		for _, name := range node.Services {
			if actions := up[placed{node.Name, name}]; len(actions) > 0 {
				w.chain(n, a.service(name), a.service(name).only(actions...))
			}
		}
	}
	w.close("")
	return a.last, nil
}

// behind puts all steps from one on behind others.
func (b *back) behind(up []int, from int) {
	var first []int
	for i, s := range b.steps[from:] {
		if len(s.Needs) == 0 {
			first = append(first, from+i)
		}
	}
	if len(up) == 0 || len(first) == 0 {
		return
	}
	gate := b.meet(allReady, slices.Clone(up))
	for _, step := range first {
		b.need(step, gate)
	}
}
