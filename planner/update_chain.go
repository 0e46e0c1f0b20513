package planner

import (
	"slices"

	"muster/app"
	"muster/app/plan"
)

// workActions are the actions of a kind of work, in order, as far as the service has them. A service that was brought up by
// them is looked at in the end.
func (s *service) workActions(w plan.ServiceWork) []app.Action {
	var actions []app.Action
	switch w {
	case plan.WorkConfigure:
		return s.only(app.ActionConfigure)
	case plan.WorkReload:
		actions = s.only(app.ActionConfigure, app.ActionReload)
		if !s.has(app.ActionReload) {
			actions = s.only(app.ActionConfigure, app.ActionStop, app.ActionStart)
		}
	case plan.WorkCompare:
		return []app.Action{app.ActionCompare}
	case plan.WorkRestart:
		actions = s.only(app.ActionStop, app.ActionStart)
	case plan.WorkStop:
		return s.only(app.ActionStop)
	case plan.WorkStopConfigure:
		return s.only(app.ActionStop, app.ActionConfigure)
	case plan.WorkStart:
		actions = s.only(app.ActionStart)
	case plan.WorkUpgrade:
		actions = s.only(app.ActionStop, app.ActionInstall, app.ActionConfigure, app.ActionStart)
	}
	if len(actions) == 0 || !s.has(app.ActionCheck) {
		return actions
	}
	switch actions[len(actions)-1] {
	case app.ActionStart, app.ActionReload, app.ActionInstall:
		return append(actions, app.ActionCheck)
	case app.ActionConfigure:
		if w == plan.WorkUpgrade { // what was installed again runs, though nothing starts it
			return append(actions, app.ActionCheck)
		}
	}
	return actions
}

// only returns those of some actions that the service has.
func (s *service) only(actions ...app.Action) []app.Action {
	return slices.DeleteFunc(slices.Clone(actions), func(a app.Action) bool { return !s.has(a) })
}

// make plans a machine and all of its services. One that is made again is given back first.
func (w *wave) make(n int) {
	create := w.act(n, "", app.ActionCreate)
	switch {
	case w.nodes[n].Change == plan.NodeReplaced && w.nodes[n].Drained:
		heads := w.heads
		w.drains = true
		w.need(create, w.giveBack(n))
		w.drains, w.heads = false, heads // a stop waits for no machine that is made
	case w.nodes[n].Change == plan.NodeReplaced:
		w.need(create, w.delete(n))
	}
	w.confirm[n] = w.act(n, "", app.ActionConfirm)
	w.need(w.confirm[n], create)
	w.need(w.prepare(n), w.confirm[n])
	w.fresh(n, w.nodes[n].Services)
}

// prepare plans that a machine gets its volumes and is made ready for its services' automators. It returns the first step.
func (w *wave) prepare(n int) int {
	step := w.act(n, "", app.ActionBootstrap)
	w.bootstrap[n] = step
	if attach := w.services.attach(w.graph, n); attach >= 0 {
		w.need(step, attach)
		return attach
	}
	return step
}

// fresh plans services that are new on a node, behind its preparation.
func (w *wave) fresh(n int, names []string) {
	for _, name := range names {
		s := w.service(name)
		w.chain(n, s, s.only(createActions...), w.bootstrap[n])
	}
}

// work plans what is done to the services that stay on a node. A new version may need an automator that is not there yet.
func (w *wave) work(n int) {
	node := w.nodes[n]
	for _, name := range workOf(node, staysUp) {
		s := w.service(name)
		actions := s.workActions(node.Work[name])
		if node.Work[name] != plan.WorkUpgrade || len(actions) == 0 {
			w.chain(n, s, actions)
			continue
		}
		if _, ok := w.bootstrap[n]; !ok {
			w.prepare(n)
		}
		if step := w.bootstrap[n]; step >= w.from {
			w.chain(n, s, actions, step)
		} else {
			w.chain(n, s, actions) // it was prepared in an earlier wave
		}
	}
}

// giveBack plans the end of a node: its services stop, then its machine goes. It returns that step.
func (w *wave) giveBack(n int) int {
	var stops, still []int
	for _, name := range w.nodes[n].Services {
		s := w.service(name)
		if steps := w.chain(n, s, s.only(app.ActionStop)); len(steps) > 0 {
			stops = append(stops, steps...)
		} else {
			still = append(still, s.number)
		}
	}
	step := w.delete(n, stops...)
	for _, s := range still {
		w.marked[falling][s] = append(w.marked[falling][s], step)
	}
	return step
}
