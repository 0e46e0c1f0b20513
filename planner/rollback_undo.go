package planner

import (
	"slices"

	"muster/app"
	"muster/app/template"
)

// undoes says which act undoes another one, on machines and of services that the operation has brought. What is not listed
// leaves nothing behind that matters.
var undoes = map[app.Action]app.Action{
	app.ActionCreate:  app.ActionDelete,
	app.ActionInstall: app.ActionRemove,
	app.ActionStart:   app.ActionStop,
	app.ActionStop:    app.ActionStart,
}

// placed is a service on a node.
type placed struct{ node, service string }

// serviceActions are what an operation was to do with a service on a node, and what of it was begun.
type serviceActions struct {
	planned, begun map[app.Action]bool
	started        bool // its start has succeeded
	stood          bool // it was on the node before
}

// only reports whether nothing but some actions was planned.
func (d *serviceActions) only(actions ...app.Action) bool {
	for a := range d.planned {
		if !slices.Contains(actions, a) {
			return false
		}
	}
	return true
}

// look finds out what the operation has done.
func (b *back) look(steps []app.Step) error {
	fresh := map[string]bool{} // nodes whose machine was to be made
	for _, s := range steps {
		if s.Join {
			continue
		}
		switch s.Action {
		case app.ActionCreate:
			fresh[s.Node] = true
			b.made[s.Node] = begun(s)
		case app.ActionDelete, app.ActionDetach: // without its volumes the machine is of no use
			b.lost[s.Node] = b.lost[s.Node] || begun(s)
		}
		switch s.Action {
		case app.ActionStop, app.ActionStart, app.ActionCheck, app.ActionHook:
		default:
			b.changed = b.changed || begun(s)
		}
		if s.Service == "" {
			continue
		}
		at := placed{s.Node, s.Service}
		d := b.done[at]
		if d == nil {
			d = &serviceActions{planned: map[app.Action]bool{}, begun: map[app.Action]bool{}}
			_, d.stood = slices.BinarySearch(b.graph.nodes[b.nodes[s.Node]].Services, s.Service)
			b.done[at] = d
		}
		d.planned[s.Action] = true
		d.begun[s.Action] = begun(s)
		d.started = d.started || s.Action == app.ActionStart && s.State == app.StepSucceeded
	}
	for _, s := range steps {
		if fresh[s.Node] && b.lost[s.Node] {
			e := refuse("undo", "The machine of %s was deleted for replacement, or may have been. This can't be undone.", s.Node)
			e.Hint = "Resume the operation to finish the replacement, or delete the cluster."
			return e
		}
		if fresh[s.Node] {
			delete(b.lost, s.Node)
		}
	}
	return nil
}

// undoing returns the acts that undo a step, in order; none where there is nothing to undo, or no way to.
func (b *back) undoing(s app.Step) []app.Action {
	if !begun(s) {
		return nil
	}
	if s.Service == "" {
		if s.Action == app.ActionCreate {
			return []app.Action{app.ActionDelete}
		}
		return nil
	}
	d := b.done[placed{s.Node, s.Service}]
	_, goes := b.lost[s.Node]
	svc := b.services[s.Service]
	if b.graph.nodes[b.nodes[s.Node]].Lost {
		return nil // nothing can be done there
	}
	if b.made[s.Node] || goes || svc == nil || d.stood && d.only(app.ActionStop, app.ActionRemove) {
		return nil // it goes with its machine, or came up again already
	}
	var actions []app.Action
	if !d.stood {
		actions = []app.Action{undoes[s.Action]}
	} else {
		actions = b.putBack(s.Action, d, svc)
	}
	return slices.DeleteFunc(actions, func(a app.Action) bool { return svc.Actions[a] == nil })
}

// putBack returns the acts that undo a step of a service that was on the node before and stays there. What was begun of the
// others decides too: a configuration is put back while the service does not run, or before it reads it again.
func (b *back) putBack(action app.Action, d *serviceActions, svc *template.Service) []app.Action {
	restarted := d.only(app.ActionStop, app.ActionStart, app.ActionCheck)
	configure := func(then ...app.Action) []app.Action {
		if d.begun[app.ActionConfigure] && !d.begun[app.ActionInstall] {
			return append([]app.Action{app.ActionConfigure}, then...)
		}
		return then
	}
	switch action {
	case app.ActionStart:
		switch {
		case d.only(app.ActionStart, app.ActionCheck):
			// It did not run before; where there is no stop, it was to start again.
			return []app.Action{app.ActionStop}
		case restarted && !b.changed, d.begun[app.ActionInstall] && !d.begun[app.ActionStop]:
			return nil // there is nothing new that it could have read, or see install
		case !d.begun[app.ActionStop]:
			return configure(app.ActionStart)
		}
		return []app.Action{app.ActionStop}
	case app.ActionInstall:
		var actions []app.Action
		if !d.begun[app.ActionStart] || !d.begun[app.ActionStop] {
			actions = append(actions, app.ActionStop)
		}
		actions = append(actions, app.ActionInstall, app.ActionConfigure)
		if !d.begun[app.ActionStop] {
			actions = append(actions, app.ActionStart)
		}
		return actions
	case app.ActionConfigure:
		if !d.begun[app.ActionStop] && !d.begun[app.ActionReload] && !d.begun[app.ActionStart] {
			return configure()
		}
	case app.ActionStop:
		if restarted && !b.changed && d.started {
			return nil
		}
		return configure(app.ActionStart)
	case app.ActionReload:
		if svc.Actions[app.ActionReload] == nil {
			return configure(app.ActionStop, app.ActionStart)
		}
		return configure(app.ActionReload)
	}
	return nil
}
