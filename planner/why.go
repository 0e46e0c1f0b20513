package planner

import (
	"fmt"
	"slices"

	"muster/app"
)

// Why tells in plain words why a step waits for another, both being indexes into the plan's steps and the second one of
// the first one's needs. It is "" for any other pair.
func Why(p app.Plan, step, need int) string {
	if step < 0 || step >= len(p.Steps) || !slices.Contains(p.Steps[step].Needs, need) {
		return ""
	}
	return why(p, step, need, func(node string) []string { return servicesOn(p, node) })
}

func why(p app.Plan, step, need int, on func(node string) []string) string {
	s, n := p.Steps[step], p.Steps[need]
	switch {
	case s.Join && s.Action == app.ActionConfirm:
		return namesAddress(s, n, on)
	case s.Join:
		return fmt.Sprintf("%s must %s on every node that has it", s.Service, done[s.Action].be)
	case s.Service == "":
		return machineFirst[n.Action]
	case n.Action == app.ActionBootstrap:
		return machineFirst[n.Action]
	case n.Action == app.ActionConfirm:
		return namesAddress(s, n, on)
	case n.Service == s.Service:
		return fmt.Sprintf("%s must %s first", n.Service, done[n.Action].be)
	}
	return between(s, n)
}

// machineFirst says what a machine action brings that others need.
var machineFirst = map[app.Action]string{
	app.ActionCreate:    "the machine must exist first",
	app.ActionConfirm:   "the machine must answer and prove who it is first",
	app.ActionBootstrap: "the machine must be prepared first",
}

// done says what is true once a service action is done: "must <be>", "when it <has>", and what then happens to others.
var done = map[app.Action]struct{ be, has, is string }{
	app.ActionInstall:    {"be installed", "is installed", "is installed"},
	app.ActionConfigure:  {"be configured", "is configured", "is configured"},
	app.ActionInitialize: {"be initialized", "is initialized", "is initialized"},
	app.ActionStart:      {"have started", "has started", "starts"},
	app.ActionStop:       {"have stopped", "has stopped", "stops"},
	app.ActionRemove:     {"be removed", "is removed", "is removed"},
}

// between gives the reason for an order between two services.
func between(s, n app.PlanStep) string {
	where := ""
	if n.Join {
		where = " on every node"
	}
	switch {
	case s.Action == app.ActionStart && n.Action == app.ActionStart:
		return fmt.Sprintf("%s starts after %s%s, which it needs at runtime", s.Service, n.Service, where)
	case s.Action == app.ActionInstall && n.Action == app.ActionInstall:
		return fmt.Sprintf("%s is installed after %s%s, which it needs to be installed", s.Service, n.Service, where)
	}
	return fmt.Sprintf("%s %s after %s %s%s, which it needs at runtime", s.Service, done[s.Action].is, n.Service, done[n.Action].has, where)
}

// namesAddress gives the reason for a wait for confirmed machines that are not one's own.
func namesAddress(s, n app.PlanStep, on func(node string) []string) string {
	switch {
	case n.Join && n.Service != "":
		return "config names addresses of " + n.Service
	case n.Join:
		return "config names addresses of these machines"
	case s.Join && s.Service != "":
		return "config names addresses of " + s.Service
	}
	if names := on(n.Node); len(names) > 0 {
		return fmt.Sprintf("config names addresses of %s, which has %s", n.Node, and(names))
	}
	return "config names addresses of " + n.Node
}

// servicesOn gives the services that have steps on a node, sorted.
func servicesOn(p app.Plan, node string) []string {
	var on []string
	for _, s := range p.Steps {
		if s.Node == node && s.Service != "" {
			on = append(on, s.Service)
		}
	}
	return set(on)
}
