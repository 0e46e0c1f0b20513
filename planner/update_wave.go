package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
)

// wave is a part of an update: all of it comes after all of the waves before.
type wave struct {
	*updatePlanner
	name    string         // what the ids of its joins begin with
	from    int            // place of its first step
	confirm map[int]int    // by node whose machine is made in it
	heads   []int          // first steps of chains
	drains  bool           // what is planned now drains nodes
	marked  [marks][][]int // by service: its steps of a kind, in order of nodes
}

// mark is a kind of step that others may have to wait for, or that may have to wait.
type mark int

const (
	installing mark = iota
	rising          // the first step that needs what the service depends on at runtime
	ready           // the step after which the service works
	stopping
	removing
	falling // of a service that has no stop: what ends it, or may
	marks
)

// orders say that a step of a kind waits for steps of a kind of those services that it depends on in a phase, or that depend on it.
var orders = []struct {
	waits, on  mark
	phase      phase
	dependents bool
}{
	{installing, installing, phaseInstall, false},
	{rising, ready, phaseRuntime, false},
	{stopping, stopping, phaseRuntime, true},
	{falling, stopping, phaseRuntime, true},
	{removing, removing, phaseInstall, true},
}

func (a *updatePlanner) wave(name string) *wave {
	w := &wave{updatePlanner: a, name: name, from: len(a.steps), confirm: map[int]int{}}
	for m := range w.marked {
		w.marked[m] = make([][]int, len(a.list))
	}
	return w
}

// chain plans actions of a service on a node, one after the other, the first one behind some steps. It returns their steps.
func (w *wave) chain(n int, s *service, actions []app.Action, behind ...int) []int {
	steps := make([]int, 0, len(actions))
	put := func(m mark, step int) { w.marked[m][s.number] = append(w.marked[m][s.number], step) }
	if w.unseen {
		actions = slices.DeleteFunc(slices.Clone(actions), func(a app.Action) bool { return a == app.ActionCheck })
	}
	rose := false
	for i, action := range actions {
		plan := w.act
		if w.drains {
			plan = w.drain
		}
		step := plan(n, s.name, action)
		w.need(step, behind...)
		behind = []int{step}
		steps = append(steps, step)
		switch action {
		case app.ActionInstall:
			put(installing, step)
			if i == 0 && !w.left {
				put(falling, step) // a new version takes the place of one that runs
			}
		case app.ActionInitialize, app.ActionStart, app.ActionReload, app.ActionCheck:
			if !rose {
				put(rising, step)
			}
			rose = true
			if i == len(actions)-1 && action != app.ActionInitialize {
				put(ready, step)
			}
		case app.ActionStop:
			put(stopping, step)
		case app.ActionRemove:
			put(removing, step)
			if i == 0 {
				put(falling, step)
			}
		}
	}
	if len(steps) > 0 {
		w.heads = append(w.heads, steps[0])
	}
	return steps
}

// close orders the wave's services, puts it behind the waves before, and says by which join the next one waits for it.
func (w *wave) close(next string) {
	if len(w.steps) == w.from {
		return
	}
	w.order()
	if len(w.confirm) > 0 {
		w.await(w.name, slices.Clone(w.named), func(n int) (int, bool) { step, ok := w.confirm[n]; return step, ok },
			slices.DeleteFunc(w.heads, func(step int) bool {
				return slices.ContainsFunc(w.steps[step].Needs, func(n int) bool { return w.steps[n].Service != "" })
			}))
	}
	needed := make([]bool, len(w.steps)-w.from)
	var first, last []int
	for i, s := range w.steps[w.from:] {
		if len(s.Needs) == 0 {
			first = append(first, w.from+i)
		}
		for _, n := range s.Needs {
			needed[n-w.from] = true
		}
	}
	for i := range needed {
		if !needed[i] {
			last = append(last, w.from+i)
		}
	}
	if len(w.last) > 0 {
		gate := w.add(plan.Step{ID: w.after, Join: true}, joined)
		w.need(gate, w.last...)
		if w.asks && w.batches > 1 && w.name == w.batchName() {
			ask := w.add(plan.Step{ID: w.after + "." + string(app.ActionAsk), Action: app.ActionAsk}, joined)
			w.need(ask, gate)
			gate = ask
		}
		for _, step := range first {
			w.need(step, gate)
		}
	}
	w.last, w.after = last, next
}

// order draws the needs between services. Where several steps wait for several others, they meet in one join.
func (w *wave) order() {
	type group struct {
		mark    mark
		service int
	}
	on := make([][][]int, len(orders)) // by order and service: the services that it waits for
	waiting := map[group]int{}
	for i, o := range orders {
		on[i] = make([][]int, len(w.list))
		for _, s := range w.list {
			if count := len(w.marked[o.waits][s.number]); count > 0 {
				on[i][s.number] = w.nearest(s, o.phase, o.dependents, func(b *service) bool { return len(w.marked[o.on][b.number]) > 0 })
				for _, b := range on[i][s.number] {
					waiting[group{o.on, b}] += count
				}
			}
		}
	}
	joins := map[group][]int{}
	for i, o := range orders {
		for _, s := range w.list {
			for _, b := range on[i][s.number] {
				at := group{o.on, b}
				needs := w.marked[o.on][b]
				if len(needs) > 1 && waiting[at] > 1 {
					if joins[at] == nil {
						joins[at] = []int{w.join(w.name, w.list[b].name, w.action(needs), needs...)}
					}
					needs = joins[at]
				}
				for _, step := range w.marked[o.waits][s.number] {
					w.need(step, needs...)
				}
			}
		}
	}
}

// action returns what steps of one kind do. Where some services start and others only reload, it is the start.
func (w *wave) action(steps []int) app.Action {
	action := w.steps[steps[0]].Action
	for _, step := range steps {
		if w.steps[step].Action == app.ActionStart {
			action = app.ActionStart
		}
	}
	return action
}
