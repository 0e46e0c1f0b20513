package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
)

// names plans that every machine learns the names and addresses of all others: a step on each node that stays, behind all steps by which
// machines come or go, and behind the bootstrap of its own node. Nothing waits for it. A plan in which no machine comes or goes has none, and neither has a cluster of one machine, or
// one that has more than app.NamesMost and had more before.
func (g *graph) names(r plan.Request) {
	brought := map[string]bool{} // nodes that the operation before was to bring, where this one undoes or continues it
	for _, s := range slices.Concat(r.Undo, r.Went) {
		if s.Action == app.ActionCreate && !s.Join {
			brought[s.Node] = true
		}
	}
	for _, s := range r.Undo {
		if s.Action == app.ActionDelete && !s.Join {
			delete(brought, s.Node) // its machine was to be replaced, and was there before
		}
	}
	confirm, bootstrap, remove := map[string]int{}, map[string]int{}, map[string]int{}
	for i, s := range g.steps {
		switch {
		case s.Join:
		case s.Action == app.ActionConfirm:
			confirm[s.Node] = i
		case s.Action == app.ActionBootstrap:
			bootstrap[s.Node] = i
		case s.Action == app.ActionDelete:
			remove[s.Node] = i
		}
	}
	changed := r.Names || r.Kind == app.OperationAcceptPartial || len(confirm)+len(remove) > 0
	var stay, last []int
	before := 0
	for n, node := range g.nodes {
		up, comes := confirm[node.Name]
		down, goes := remove[node.Name]
		if r.Kind != app.OperationCreate && node.Change != plan.NodeNew && !brought[node.Name] {
			before++
		}
		switch {
		case comes:
			stay, last = append(stay, n), append(last, up)
		case goes:
			last = append(last, down)
		case node.Lost, node.Change == plan.NodeGone, r.Kind == app.OperationRollBack && brought[node.Name]:
		default:
			stay = append(stay, n)
		}
	}
	few := len(stay) <= plan.NamesMost || before > 0 && before <= plan.NamesMost
	if !changed || !few || len(g.nodes) < 2 || len(stay) == 0 {
		return
	}
	needs := g.lastOf(last)
	if len(needs) > 1 && len(stay) > 1 {
		needs = []int{g.join(everywhere, "", app.ActionNames, needs...)}
	}
	for _, n := range stay {
		step := g.act(n, "", app.ActionNames)
		g.place[step].node += len(g.nodes) // in the list, behind all that others wait for
		node := g.nodes[n].Name
		if b, ok := bootstrap[node]; ok { // both report what they found on the node, and only this one knows its peers
			g.need(step, b)
			if up, comes := confirm[node]; comes && slices.Equal(needs, []int{up}) {
				continue // which comes before its bootstrap
			}
		}
		g.need(step, needs...)
	}
}

// lastOf leaves out those steps that come before others of them.
func (g *graph) lastOf(steps []int) []int {
	earlier := make([]bool, len(g.steps))
	var open []int
	look := func(step int) {
		for _, n := range g.steps[step].Needs {
			if !earlier[n] {
				earlier[n] = true
				open = append(open, n)
			}
		}
	}
	for _, step := range steps {
		look(step)
	}
	for len(open) > 0 {
		step := open[len(open)-1]
		open = open[:len(open)-1]
		look(step)
	}
	return slices.DeleteFunc(steps, func(step int) bool { return earlier[step] })
}
