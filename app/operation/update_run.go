package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
)

// setRunning starts, stops or restarts services. Those that need a service which is stopped come along, and so do those that a
// started one needs. A restart batch by batch keeps the service there, so nothing comes along.
func setRunning(_ context.Context, _ *Builder, d *updateBuilder) error {
	if err := d.checkServices(d.ask.Services); err != nil {
		return err
	}
	if err := d.checkNodes(d.ask.Nodes); err != nil {
		return err
	}
	r := newRun(d)
	if err := r.leaveOutLost(); err != nil {
		return err
	}
	for _, s := range d.asked() {
		if !r.take(s, d.named) {
			if len(d.ask.Services) == 0 {
				continue // of all that there is, something is on machines that are gone only
			}
			return &app.Error{Code: app.EInvalid, Field: "services", Message: fmt.Sprintf("%s isn't on %s.", s, cluster.NodesInWords(d.ask.Nodes)),
				Hint: fmt.Sprintf("Choose from %s.", cluster.NodesInWords(r.on[s]))}
		}
	}
	switch {
	case d.ask.Kind == app.OperationStart:
		r.needed()
	case d.ask.Batch == 0:
		r.dependents()
	}
	r.carryOut()
	return nil
}

// asked returns the services that were asked for: all that are on the nodes where none is named.
func (d *updateBuilder) asked() []string {
	if len(d.ask.Services) > 0 {
		return d.ask.Services
	}
	if len(d.ask.Nodes) == 0 {
		return d.services
	}
	var on []app.Node
	for _, n := range d.standing.nodes {
		if d.named[n.Name] {
			on = append(on, n)
		}
	}
	return servicesOn(on)
}

// run is which services are started or stopped, on which nodes.
type run struct {
	*updateBuilder
	on    map[string][]string        // by service: the nodes that have it
	taken map[string]map[string]bool // by service: the nodes on which something is done
	queue []string                   // of services that were taken
	work  plan.ServiceWork
	act   []app.Action // of which one has to be there for the work to be any
}

func newRun(d *updateBuilder) *run {
	r := &run{updateBuilder: d, on: map[string][]string{}, taken: map[string]map[string]bool{}}
	for _, n := range d.standing.nodes {
		if n.Lost() {
			continue
		}
		for _, s := range n.Services {
			r.on[s] = append(r.on[s], n.Name)
		}
	}
	switch d.ask.Kind {
	case app.OperationStart:
		r.work, r.act = plan.WorkStart, []app.Action{app.ActionStart}
	case app.OperationStop:
		r.work, r.act = plan.WorkStop, []app.Action{app.ActionStop}
	default:
		r.work, r.act = plan.WorkRestart, []app.Action{app.ActionStop, app.ActionStart}
	}
	return r
}

// leaveOutLost says which nodes nothing is done on, since their machines are gone, and refuses what could be done on those only.
func (r *run) leaveOutLost() error {
	var lost []string
	for _, n := range r.standing.nodes {
		asked := len(r.ask.Services) == 0 || slices.ContainsFunc(n.Services, func(s string) bool { return slices.Contains(r.ask.Services, s) })
		if n.Lost() && asked && (len(r.named) == 0 || r.named[n.Name]) {
			lost = append(lost, n.Name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	words := "The machine of " + cluster.NodesInWords(lost) + " is gone"
	if len(lost) > 1 {
		words = "The machines of " + cluster.NodesInWords(lost) + " are gone"
	}
	for _, s := range r.ask.Services {
		if len(r.on[s]) == 0 {
			return &app.Error{Code: app.EConflict, Reason: "lost_machines", Message: words + ", and " + s + " isn't running on any other node.", Hint: "Repair the cluster first."}
		}
	}
	if len(r.named) > 0 && !slices.ContainsFunc(r.ask.Nodes, func(n string) bool { return !r.node(n).Lost() }) {
		return &app.Error{Code: app.EConflict, Reason: "lost_machines", Field: "nodes", Message: words + ".", Hint: "Repair the cluster first."}
	}
	r.note("%s, so nothing runs there. Repair the cluster to replace lost machines.", words)
	return nil
}

// take marks a service on some nodes, or on all of its own where none is named, and reports whether it is on any of them.
func (r *run) take(service string, nodes map[string]bool) bool {
	taken, found := r.taken[service], false
	for _, n := range r.on[service] {
		if len(nodes) > 0 && !nodes[n] {
			continue
		}
		if found = true; taken[n] {
			continue
		}
		if taken == nil {
			taken = map[string]bool{}
			r.taken[service] = taken
		}
		taken[n] = true
		if !slices.Contains(r.queue, service) {
			r.queue = append(r.queue, service)
		}
	}
	return found
}

// whole reports whether nothing of a service is left out.
func (r *run) whole(service string) bool { return len(r.taken[service]) == len(r.on[service]) }

// requires reports whether a service cannot run without another one.
func (d *updateBuilder) requires(service, other string) bool {
	s, o := d.was.Services[service], d.was.Services[other]
	if s == nil || service == other {
		return false
	}
	return slices.ContainsFunc(s.Runtime.Requires, func(name string) bool {
		return name == other || o != nil && slices.Contains(o.Provides, name)
	})
}

// dependents takes along what needs a service that is stopped: everywhere, where it is stopped on all of its nodes, else only on the
// nodes on which it is.
func (r *run) dependents() {
	r.along(func(service string) (others []string) {
		for _, s := range r.services {
			if r.requires(s, service) {
				others = append(others, s)
			}
		}
		return others
	}, "Includes %s, which need %s.", "Includes %s, which needs %s.")
}

// needed takes along what a service needs that is started; to start what runs already does nothing.
func (r *run) needed() {
	r.along(func(service string) (others []string) {
		for _, s := range r.services {
			if r.requires(service, s) {
				others = append(others, s)
			}
		}
		return others
	}, "Includes %s, which %s needs.", "Includes %s, which %s needs.")
}

func (r *run) along(of func(service string) []string, many, one string) {
	for len(r.queue) > 0 {
		service := r.queue[0]
		r.queue = r.queue[1:]
		var new []string
		for _, other := range of(service) {
			before := len(r.taken[other])
			var nodes map[string]bool
			if r.ask.Kind != app.OperationStart && !r.whole(service) {
				nodes = r.taken[service]
			}
			r.take(other, nodes)
			if before == 0 && len(r.taken[other]) > 0 {
				new = append(new, other)
			}
		}
		if words := many; len(new) > 0 {
			if len(new) == 1 {
				words = one
			}
			r.note(words, humanize.And(new), service)
		}
	}
}

// carryOut writes the work down, and says which services have nothing to do it by.
func (r *run) carryOut() {
	var idle []string
	for _, s := range r.services {
		if len(r.taken[s]) == 0 {
			continue
		}
		service := r.was.Services[s]
		if service == nil || !slices.ContainsFunc(r.act, func(a app.Action) bool { return service.Actions[a] != nil }) {
			idle = append(idle, s)
			continue
		}
		for i := range r.updateBuilder.nodes {
			if n := &r.updateBuilder.nodes[i]; r.taken[s][n.Name] {
				n.AllWork(s, r.work)
			}
		}
	}
	if len(idle) > 0 {
		actions := make([]string, len(r.act))
		for i, a := range r.act {
			actions[i] = string(a)
		}
		r.note("Skips %s: no %s action.", humanize.And(idle), humanize.Or(actions))
	}
}
