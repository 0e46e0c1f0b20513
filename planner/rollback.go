package planner

import (
	"slices"

	"muster/app"
)

// undoes says which act undoes another one. What is not listed leaves nothing behind that matters, or cannot be undone.
var undoes = map[app.Action]app.Action{
	app.ActionCreate:  app.ActionDelete,
	app.ActionInstall: app.ActionRemove,
	app.ActionStart:   app.ActionStop,
	app.ActionStop:    app.ActionStart,
}

// rollBack plans how to undo an operation, last things first. A step counts as done as soon as an attempt of it began: it
// may have had its effect whatever was reported. On a node that the operation has made only the machine is given back;
// elsewhere each act is undone by the one that undoes it, where its service has that. Nodes that nothing was begun on
// have no steps.
func rollBack(g *graph, r app.PlanRequest) error {
	b := &back{graph: g, nodes: map[string]int{}, made: map[string]bool{}, services: r.Services,
		after: map[int][]int{}, chain: map[string]int{}, whole: -1}
	for n, node := range r.Nodes {
		b.nodes[node.Name] = n
	}
	for i, s := range r.Undo {
		if i > 0 && s.Index <= r.Undo[i-1].Index {
			return refuse("undo", "Step %s is number %d and stands behind number %d.", s.ID, s.Index, r.Undo[i-1].Index)
		}
		if _, ok := b.nodes[s.Node]; !ok && !s.Join {
			return refuse("node", "Step %s is of node %s, which is not there.", s.ID, s.Node)
		}
		b.made[s.Node] = b.made[s.Node] || s.Action == app.ActionCreate && begun(s)
	}
	for _, s := range slices.Backward(r.Undo) {
		if err := b.undo(s); err != nil {
			return err
		}
	}
	return nil
}

// back is a roll-back being planned. Steps are looked at last first, so when one is reached, all that came after it has
// been.
type back struct {
	*graph
	nodes    map[string]int
	made     map[string]bool // nodes whose machine the operation has, or may have, made
	services map[string]*app.Service
	after    map[int][]int  // by step: the places of what has to be undone before it
	chain    map[string]int // by node: the place of what was undone last, since a node's acts are undone one by one
	whole    int            // what has to be undone before everything that is left, -1 for nothing; see undo
}

func begun(s app.Step) bool { return !s.Join && (s.Attempt > 0 || s.State == app.StepSucceeded) }

func (b *back) undo(s app.Step) error {
	before := b.after[s.Index]
	if action, ok := b.undoing(s); ok {
		step := b.act(b.nodes[s.Node], s.Service, action)
		b.need(step, before...)
		if last, ok := b.chain[s.Node]; ok {
			b.need(step, last)
		}
		if b.whole >= 0 {
			b.need(step, b.whole)
		}
		b.chain[s.Node] = step
		before = []int{step}
	} else if len(before) > 1 {
		// It is passed through: what came before it waits for what came after it. One join keeps that from multiplying.
		slices.Sort(before)
		before = []int{b.meet("undone."+s.ID, slices.Compact(before))}
	}
	for _, need := range s.Needs {
		if need < 0 || need >= s.Index {
			return refuse("undo", "Step %s needs step %d, which does not come before it.", s.ID, need)
		}
		b.after[need] = append(b.after[need], before...)
	}
	if s.NeedsMore && len(before) > 0 {
		// Not all needs are known. They all come earlier, so everything earlier waits: too much, but never too little.
		if b.whole >= 0 {
			before = append(slices.Clone(before), b.whole)
		}
		b.whole = b.meet("all.undone."+s.ID, before)
	}
	return nil
}

// undoing gives the act that undoes a step, if there is something to undo and a way to.
func (b *back) undoing(s app.Step) (app.Action, bool) {
	action, ok := undoes[s.Action]
	switch {
	case !ok || !begun(s):
		return "", false
	case s.Service == "":
		return action, true
	case b.made[s.Node]:
		return "", false // it goes with its machine
	}
	svc := b.services[s.Service]
	return action, svc != nil && svc.Actions[action] != nil
}

func (b *back) meet(id string, needs []int) int {
	step := b.add(app.PlanStep{ID: id, Join: true}, joined)
	b.need(step, needs...)
	return step
}
