package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// rollBack plans how to undo an operation, last things first. A step counts as done as soon as an attempt of it began: it
// may have had its effect whatever was reported. Nodes say which services they had before.
//
// Services that were stopped or removed, and nodes that were given back, come up again first, in the order in which services
// need each other. Then follows all else, backwards: on a node that the operation has made only the machine is given back;
// elsewhere each act is undone by those that undo it (see undo), as far as the service has them. What nothing was begun on has
// no steps. Nothing is looked at for its health: a rollback puts back what was there, be it unhealthy.
func rollBack(g *graph, r plan.Request) error {
	if act := powerOf(r.Undo); act != "" {
		return undoPower(g, r, act)
	}
	r.Undo = slices.Clone(r.Undo)
	for i, s := range r.Undo {
		r.Undo[i].Join = s.Join || s.Action == app.ActionAsk // there is nothing to undo of it
	}
	b := &back{graph: g, nodes: map[string]int{}, made: map[string]bool{}, services: r.Services,
		done: map[placed]*serviceActions{}, lost: map[string]bool{}, after: map[int][]int{}, chain: map[string]int{}, whole: -1}
	for n, node := range r.Nodes {
		b.nodes[node.Name] = n
	}
	for i, s := range r.Undo {
		if i > 0 && s.Index <= r.Undo[i-1].Index {
			return refuse("undo", "Step %s has index %d but comes after step %d.", s.ID, s.Index, r.Undo[i-1].Index)
		}
		if _, ok := b.nodes[s.Node]; !ok && !s.Join {
			return refuse("node", "Step %s is on node %s, which doesn't exist.", s.ID, s.Node)
		}
	}
	if err := b.look(r.Undo); err != nil {
		return err
	}
	up, err := b.again(r)
	if err != nil {
		return err
	}
	from := len(b.steps)
	for _, s := range slices.Backward(r.Undo) {
		if err := b.undo(s); err != nil {
			return err
		}
	}
	b.behind(up, from)
	b.prune()
	return nil
}

// back is a rollback being planned. Steps are looked at last first, so when one is reached, all that came after it has
// been.
type back struct {
	*graph
	nodes    map[string]int
	made     map[string]bool // nodes whose machine the operation has, or may have, made
	lost     map[string]bool // nodes that it was to give back: true where it has, or may have
	done     map[placed]*serviceActions
	changed  bool // something else was begun than to stop and start services
	services map[string]*template.Service
	after    map[int][]int  // by step: the places of what has to be undone before it
	chain    map[string]int // by node: the place of what was undone last, since a node's acts are undone one by one
	whole    int            // what has to be undone before everything that is left, -1 for nothing; see undo
}

func begun(s app.Step) bool { return !s.Join && (s.Attempt > 0 || s.State == app.StepSucceeded) }

func (b *back) undo(s app.Step) error {
	before := b.latest(b.after[s.Index])
	if actions := b.undoing(s); len(actions) > 0 {
		for _, action := range actions {
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
		}
	} else if len(before) > 1 {
		// It is passed through: what came before it waits for what came after it. One join keeps that from multiplying.
		before = []int{b.meet("undone."+s.ID, before)}
	}
	for _, need := range s.Needs {
		if need < 0 || need >= s.Index {
			return refuse("undo", "Step %s needs step %d, which doesn't come before it.", s.ID, need)
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

// latest returns steps in order, each once, and of those on one node the last: the others come before it.
func (b *back) latest(steps []int) []int {
	slices.Sort(steps)
	last := map[string]int{}
	for _, step := range steps {
		last[b.steps[step].Node] = step
	}
	return slices.DeleteFunc(slices.Compact(steps), func(step int) bool { return !b.steps[step].Join && last[b.steps[step].Node] != step })
}

func (b *back) meet(id string, needs []int) int {
	step := b.add(plan.Step{ID: id, Join: true}, joined)
	b.need(step, needs...)
	return step
}
