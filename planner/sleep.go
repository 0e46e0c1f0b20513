package planner

import (
	"muster/app"
	"muster/app/plan"
)

// The joins of sleep and wake: machines stop when every service has stopped, and services start when every machine runs.
const (
	allStopped = "all.stopped"
	allAwake   = "all.awake"
)

// sleep plans that a cluster goes to sleep: its services stop, those that need others first, and then its machines.
func sleep(g *graph, r plan.Request) error {
	return sleepWhere(g, r, func(string, string) bool { return true })
}

func sleepWhere(g *graph, r plan.Request, runs func(node, service string) bool) error {
	a, err := standing(g, r)
	if err != nil {
		return err
	}
	w := a.wave("stop")
	for n, node := range a.nodes {
		for _, name := range node.Services {
			if s := a.service(name); !node.Lost && runs(node.Name, name) {
				w.chain(n, s, s.only(app.ActionStop))
			}
		}
	}
	w.close(allStopped)
	w = a.wave("sleep")
	for n, node := range a.nodes {
		if !node.Lost {
			w.act(n, "", app.ActionSleep)
		}
	}
	w.close("")
	return nil
}

// wake plans that a cluster wakes: its machines start and prove who they are, and then its services start, those that others
// need first. They are configured again before, since machines may have other addresses than they had.
func wake(g *graph, r plan.Request) error {
	a, err := standing(g, r)
	if err != nil {
		return err
	}
	w := a.wave("wake")
	for n, node := range a.nodes {
		if !node.Lost {
			confirm := w.act(n, "", app.ActionConfirm)
			w.need(confirm, w.act(n, "", app.ActionWake))
			if attach := a.services.attach(g, n); attach >= 0 {
				w.need(attach, confirm)
			}
		}
	}
	w.close(allAwake)
	w = a.wave("start")
	for n, node := range a.nodes {
		if node.Lost {
			continue
		}
		for _, name := range node.Services {
			s := a.service(name)
			if s.has(app.ActionStart) {
				w.chain(n, s, s.only(app.ActionConfigure, app.ActionStart, app.ActionCheck))
			} else {
				w.chain(n, s, s.only(app.ActionConfigure))
			}
		}
	}
	w.close("")
	return nil
}

// standing is an update of a cluster to which nothing is added and from which nothing goes.
func standing(g *graph, r plan.Request) (*updatePlanner, error) {
	s, err := servicesOf(r)
	if err != nil {
		return nil, err
	}
	if _, err := s.macros(r.Config); err != nil {
		return nil, err
	}
	return &updatePlanner{graph: g, services: s, bootstrap: map[int]int{}}, nil
}

// powerOf reports whether what is to be undone put a cluster to sleep or woke it; "" for neither.
func powerOf(steps []app.Step) app.Action {
	for _, s := range steps {
		if s.Action == app.ActionSleep || s.Action == app.ActionWake {
			return s.Action
		}
	}
	return ""
}

// undoPower plans the opposite of a sleep or of a wake that did not get to its end. To wake a machine that runs does nothing, so all
// of them are woken. Of a wake, only those services are stopped that it may have begun to start: a machine that did not wake answers
// no one.
func undoPower(g *graph, r plan.Request, act app.Action) error {
	if act == app.ActionSleep {
		return wake(g, r)
	}
	started := map[[2]string]bool{}
	for _, s := range r.Undo {
		if s.Action == app.ActionStart && begun(s) {
			started[[2]string{s.Node, s.Service}] = true
		}
	}
	return sleepWhere(g, r, func(node, service string) bool { return started[[2]string{node, service}] })
}
