package planner

import (
	"cmp"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
)

func why(p plan.Plan, step, need int, on func(node string) []string) string {
	s, n := p.Steps[step], p.Steps[need]
	switch {
	case s.Action == app.ActionHook || n.Action == app.ActionHook:
		return aroundHook(s, n)
	case s.Action == app.ActionNames && n.Action == app.ActionBootstrap:
		return machineFirst[n.Action]
	case s.Action == app.ActionNames:
		return "all machines must be created or deleted before names are written"
	case p.Kind == app.OperationRollBack && n.ID != allReady && s.ID != allReady && s.Action != app.ActionConfirm && n.Action != app.ActionConfirm &&
		n.Action != app.ActionBootstrap && n.Action != app.ActionAttach && (n.Join || s.Join || n.Node != s.Node || n.Service != s.Service):
		return "later steps must be undone first"
	case n.Action == app.ActionAsk:
		return "a person must confirm first"
	case s.Action == app.ActionAsk:
		return "the previous batch must finish before the check"
	case n.Join && n.Action == "":
		return betweenWaves(n.ID)
	case s.Join && s.Action == "":
		return betweenWaves(s.ID)
	case s.Join && s.Action == app.ActionConfirm:
		return namesAddress(s, n, on)
	case s.Join:
		return fmt.Sprintf("%s must %s on every node %s", s.Service, done[s.Action].be, ofJoin(p))
	case (s.Action == app.ActionDelete || s.Action == app.ActionDetach) && n.Service != "":
		return beforeItGoes(s, n)
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

// aroundHook says why a script of a hook waits, or is waited for.
func aroundHook(s, n plan.Step) string {
	name := func(id string) string { _, name, _ := strings.Cut(id, "hook."); return name }
	switch {
	case n.Action == app.ActionHook && !isBeforeHook(n):
		return fmt.Sprintf("hook %s must run first", name(n.ID))
	case s.Action != app.ActionHook || n.Join || s.Join:
		return fmt.Sprintf("everything else must finish before hook %s", name(cmp.Or(joinID(n), joinID(s))))
	}
	return machineFirst[n.Action]
}

// isBeforeHook reports whether a step is the join of all that comes before a hook after the operation.
func isBeforeHook(s plan.Step) bool { return s.Join && strings.HasPrefix(s.ID, allBeforeHook) }

// allBeforeHook begins the ids of such joins.
const allBeforeHook = "all.before.hook."

func joinID(s plan.Step) string {
	if s.Join {
		return s.ID
	}
	return ""
}

// ofJoin says which nodes a join is about.
func ofJoin(p plan.Plan) string {
	if p.Kind == app.OperationCreate {
		return "that runs it"
	}
	return "where it changes"
}

// betweenWaves says why one wave of an update waits for another, by the join between them.
func betweenWaves(join string) string {
	switch join {
	case allStopped:
		return "all services must stop before their machines do"
	case allAwake:
		return "all machines must run before services start"
	case allDrained:
		return "services that use the node must do without it first"
	case allReady:
		return "everything that starts must be running first"
	case allDone:
		return "nodes that stay must be ready before anything stops or is deleted"
	}
	return "the previous batch must finish first"
}

// beforeItGoes says what a machine's services must have done before it is given back, or those that need them.
func beforeItGoes(s, n plan.Step) string {
	if n.Node == s.Node {
		return fmt.Sprintf("%s must %s first", n.Service, done[n.Action].be)
	}
	return fmt.Sprintf("%s needs a service on this machine at runtime, so it stops first", n.Service)
}

// machineFirst says what a machine action brings that others need.
var machineFirst = map[app.Action]string{
	app.ActionCreate:    "the machine must exist first",
	app.ActionConfirm:   "the machine must respond and prove its identity first",
	app.ActionBootstrap: "the machine must be prepared first",
	app.ActionWake:      "the machine must run first",
	app.ActionAttach:    "the node's volumes must be mounted first",
	app.ActionDetach:    "the node's volumes must be detached first",
	app.ActionDelete:    "the old machine must be deleted first",
	app.ActionIsolate:   "the machine must be closed to all but SSH first",
	app.ActionBake:      "the image must be made first",
}

// done says what is true once a service action is done: "must <be>", "when it <has>", and what then happens to others.
var done = map[app.Action]struct{ be, has, is string }{
	app.ActionInstall:    {"be installed", "is installed", "is installed"},
	app.ActionConfigure:  {"be configured", "is configured", "is configured"},
	app.ActionInitialize: {"be initialized", "is initialized", "is initialized"},
	app.ActionStart:      {"have started", "has started", "starts"},
	app.ActionReload:     {"be reloaded", "is reloaded", "is reloaded"},
	app.ActionCheck:      {"be healthy", "is healthy", "is checked"},
	app.ActionCompare:    {"be compared", "is compared", "is compared"},
	app.ActionStop:       {"have stopped", "has stopped", "stops"},
	app.ActionRemove:     {"be removed", "is removed", "is removed"},
}

// between returns the reason for an order between two services.
func between(s, n plan.Step) string {
	where := ""
	if n.Join {
		where = " on every node"
	}
	switch {
	case n.Action == app.ActionStop:
		has := " has stopped" + where
		if s.Action == app.ActionStop {
			has = where
		}
		return fmt.Sprintf("%s %s after %s%s, which needs it at runtime", s.Service, done[s.Action].is, n.Service, has)
	case s.Action == app.ActionRemove:
		return fmt.Sprintf("%s is removed after %s%s, which needs it to be installed", s.Service, n.Service, where)
	case s.Action == app.ActionStart && n.Action == app.ActionStart:
		return fmt.Sprintf("%s starts after %s%s, which it needs at runtime", s.Service, n.Service, where)
	case s.Action == app.ActionInstall && n.Action == app.ActionInstall:
		return fmt.Sprintf("%s is installed after %s%s, which it needs to be installed", s.Service, n.Service, where)
	}
	return fmt.Sprintf("%s %s after %s %s%s, which it needs at runtime", s.Service, done[s.Action].is, n.Service, done[n.Action].has, where)
}

// namesAddress returns the reason for a wait for confirmed machines that are not one's own.
func namesAddress(s, n plan.Step, on func(node string) []string) string {
	switch {
	case n.Join && n.Service != "":
		return "config names addresses of " + n.Service
	case n.Join:
		return "config names addresses of these machines"
	case s.Join && s.Service != "":
		return "config names addresses of " + s.Service
	}
	if names := on(n.Node); len(names) > 0 {
		return fmt.Sprintf("config names addresses of %s, which runs %s", n.Node, humanize.And(names))
	}
	return "config names addresses of " + n.Node
}
