package planner

import (
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/plan"
)

// update plans what happens to an existing cluster, whatever the kind: the nodes say what is to be done, and this puts it
// in order. It goes in waves, each of which is over before the next one begins:
//
//  1. what comes up: new nodes, services that are added, services that are started again;
//  2. work on what stays, batch after batch, and machines that are made again where that goes in batches, those first;
//  3. what goes: services that are stopped or removed, and nodes.
//
// Before all of them, services that reload are configured without nodes that are drained.
//
// So a load balancer learns of new servers when they run, and forgets old ones before they stop. Without batches, machines
// that are made again belong to the first wave. Starts and stops are never batched, since what depends on what orders them over all
// nodes.
func update(g *graph, r plan.Request) error {
	if err := checkUpdate(r); err != nil {
		return err
	}
	s, err := servicesOf(r)
	if err != nil {
		return err
	}
	macros, err := s.macros(texts(r))
	if err != nil {
		return err
	}
	a := &updatePlanner{graph: g, services: s, batch: r.Batch, asks: r.Between != nil, named: s.named(macros.References()), bootstrap: map[int]int{}}
	a.drainNodes()
	a.comeUp()
	a.workOn()
	a.goDown()
	return nil
}

// updatePlanner plans an update. Its waves are planned one after the other, so the last steps of one are known
// when the next one begins.
type updatePlanner struct {
	*graph
	*services
	batch     int
	batches   int         // begun so far
	named     []*service  // by the configuration, with their addresses
	bootstrap map[int]int // by node that is prepared
	last      []int       // steps of the waves so far that nothing waits for yet
	after     string      // id of the join that the next wave waits for
	left      bool        // only what is left of an operation is done, so what is installed runs nowhere yet
	unseen    bool        // nothing is looked at for its health
	asks      bool        // a person is asked before each batch but the first
}

// The joins between waves; those between batches are "batch.2" and so on.
const (
	allDrained = "all.drained" // no one uses what is drained
	allReady   = "all.ready"   // what comes up is up
	allDone    = "all.done"    // work on what stays is done
)

// drainNodes plans that services which read the addresses of drained nodes do without these. A service that can't reload is left alone: its restart would be just
// what draining saves its users from. Where no other node has a service that is named, there is nothing to use instead.
func (a *updatePlanner) drainNodes() {
	left := map[string]bool{} // services that other nodes have
	for _, node := range a.nodes {
		if node.Change == "" && !node.Lost {
			for _, s := range node.Services {
				left[s] = true
			}
		}
	}
	drained := false
	for _, node := range a.nodes {
		for _, s := range node.Services {
			if node.Change == plan.NodeReplaced && node.Drained && slices.Contains(a.named, a.service(s)) {
				if drained = true; !left[s] {
					return
				}
			}
		}
	}
	if !drained {
		return
	}
	w := a.wave("drain")
	w.drains = true
	for n, node := range a.nodes {
		for _, name := range workOf(node, func(w plan.ServiceWork) bool { return w == plan.WorkReload }) {
			if s := a.service(name); s.has(app.ActionReload) {
				w.chain(n, s, s.only(app.ActionConfigure, app.ActionReload))
			}
		}
	}
	w.close(allDrained)
}

// comeUp plans the first wave.
func (a *updatePlanner) comeUp() {
	w := a.wave(everywhere)
	for n, node := range a.nodes {
		switch {
		case node.Change == plan.NodeNew, node.Change == plan.NodeReplaced && a.batch == 0:
			w.make(n)
		case node.Change == plan.NodeReplaced, node.Change == plan.NodeGone:
			continue
		}
		if len(node.Added) > 0 {
			w.prepare(n)
			w.fresh(n, node.Added)
		}
		for _, name := range workOf(node, startsOnly) {
			w.chain(n, a.service(name), a.service(name).workActions(plan.WorkStart))
		}
	}
	w.close(allReady)
}

// workOn plans the waves in the middle.
func (a *updatePlanner) workOn() {
	var replaced, worked []int
	for n, node := range a.nodes {
		if node.Change == plan.NodeReplaced && a.batch > 0 {
			replaced = append(replaced, n)
		}
		if slices.ContainsFunc(workOf(node, staysUp), func(name string) bool { return len(a.service(name).workActions(node.Work[name])) > 0 }) {
			worked = append(worked, n)
		}
	}
	for nodes := range a.split(replaced) {
		w := a.wave(a.nextBatch())
		for _, n := range nodes {
			w.make(n)
		}
		w.close(a.nextGate())
	}
	for nodes := range a.split(worked) {
		w := a.wave(a.nextBatch())
		for _, n := range nodes {
			w.work(n)
		}
		w.close(a.nextGate())
	}
	if a.after != allReady {
		a.after = allDone
	}
}

// goDown plans the last wave.
func (a *updatePlanner) goDown() {
	w := a.wave("end")
	for n, node := range a.nodes {
		if node.Change == plan.NodeGone {
			w.giveBack(n)
			continue
		}
		for _, name := range node.Removed {
			w.chain(n, a.service(name), a.service(name).only(app.ActionStop, app.ActionRemove))
		}
		w.detachRemoved(n)
		for _, name := range workOf(node, stopsOnly) {
			w.chain(n, a.service(name), a.service(name).workActions(node.Work[name]))
		}
	}
	w.close("")
}

// split returns nodes batch by batch.
func (a *updatePlanner) split(nodes []int) func(yield func([]int) bool) {
	size := a.batch
	if size == 0 {
		size = max(len(nodes), 1)
	}
	return slices.Chunk(nodes, size)
}

// nextBatch returns what the ids of a middle wave's joins begin with.
func (a *updatePlanner) nextBatch() string {
	a.batches++
	return a.batchName()
}

// batchName is what the ids of the latest batch's joins begin with.
func (a *updatePlanner) batchName() string {
	if a.batch == 0 {
		return "work"
	}
	return fmt.Sprintf("batch.%d", a.batches)
}

// nextGate returns the id of the join behind the latest batch.
func (a *updatePlanner) nextGate() string { return fmt.Sprintf("batch.%d", a.batches+1) }

func (a *updatePlanner) service(name string) *service { return a.list[a.byName[name]] }

func startsOnly(w plan.ServiceWork) bool { return w == plan.WorkStart }
func stopsOnly(w plan.ServiceWork) bool  { return w == plan.WorkStop || w == plan.WorkStopConfigure }
func staysUp(w plan.ServiceWork) bool    { return !startsOnly(w) && !stopsOnly(w) }

// workOf returns the services of a node that work of some kinds is done to, by name.
func workOf(n plan.Node, kind func(plan.ServiceWork) bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(n.Work)) {
		if kind(n.Work[name]) {
			names = append(names, name)
		}
	}
	return names
}
