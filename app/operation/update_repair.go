package operation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/quarantine"
)

// repair replaces nodes: those that are named, or else those that are unhealthy or whose machines are about to be
// interrupted, and in any case those whose machines are lost where an operation did not end well. What that left undone on other nodes
// is done with it, and what it was to give back is given back.
func repair(ctx context.Context, a *Builder, d *updateBuilder) error {
	if err := d.checkNodes(d.ask.Nodes); err != nil {
		return err
	}
	unmade, undone := d.unfinished()
	unhealthy := d.named
	if len(unhealthy) == 0 {
		known, err := a.unhealthyNodes(ctx, d.standing)
		if err != nil {
			return err
		}
		for _, name := range known {
			unhealthy[name] = true
		}
	}
	if !d.recovery().LostOnly() {
		for _, n := range d.standing.nodes {
			if n.Lost() {
				unhealthy[n.Name] = true // nothing that is left to do could be done there
			}
		}
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		switch {
		case unhealthy[n.Name]:
			n.Change = plan.NodeReplaced
			if was := d.node(n.Name); was.Interrupted() {
				n.Reason = "its machine will be interrupted"
				d.note("%s Its services are stopped first.", was.InterruptionWords())
			}
		case unmade[n.Name]:
			n.Change, n.Reason = plan.NodeReplaced, "not fully created"
		case len(undone[n.Name]) > 0:
			n.Reason = d.latest.Kind.The() + " didn't finish there"
			d.finish(n, undone[n.Name])
		}
	}
	d.clearLeft()
	switch {
	case d.namesLeft():
		d.note("Writes the node names on every node, since %s didn't get that far.", d.latest.Kind.The())
	case !slices.ContainsFunc(d.nodes, cluster.UpdatedNode.Touched):
		d.note("All nodes are healthy. To replace one anyway, name it.")
	}
	return nil
}

// keepReplaced finds which of the machines that a repair replaces are kept for inspection.
func (a *Builder) keepReplaced(ctx context.Context, d *updateBuilder) (err error) {
	if d.kind() != app.OperationRepair {
		return nil
	}
	failed := map[string]string{}
	var withVolumes []string // their machines must let go of the volumes, which the new ones get
	for _, n := range d.nodes {
		if n.Change != plan.NodeReplaced || d.interrupted(n.Name) {
			continue
		}
		if anyVolumes(d.planned.Services, n.Services) {
			withVolumes = append(withVolumes, n.Name)
		} else {
			failed[n.Name] = "replaced by a repair"
		}
	}
	for node, reason := range quarantine.FailedIn(d.open) {
		if failed[node] != "" {
			failed[node] = reason
		}
	}
	if d.kept, err = a.Keeping.Select(ctx, d.Tenant, d.ask.KeepFailed.Over(d.was.KeepFailed), d.standing.nodes, failed); err != nil {
		return err
	}
	if words := d.kept.Words(); words != "" {
		d.note("%s", words)
	}
	d.notes = append(d.notes, d.kept.Notes...)
	if on := d.ask.KeepFailed.Over(d.was.KeepFailed); len(withVolumes) > 0 && on.For() > 0 {
		d.note("Not kept for inspection, since they have volumes: %s.", humanize.Some(withVolumes, 10))
	}
	return nil
}

// namesLeft reports whether a repair has names to write because the latest operation ended before it had written them.
func (d *updateBuilder) namesLeft() bool {
	return d.kind() == app.OperationRepair && slices.ContainsFunc(d.open, func(s app.Step) bool { return s.Action == app.ActionNames })
}

// finish does what was left undone on a node. What was to be set up is set up from the beginning.
func (d *updateBuilder) finish(n *cluster.UpdatedNode, services map[string][]app.Action) {
	for _, s := range slices.Sorted(maps.Keys(services)) {
		if !slices.Contains(n.Services, s) {
			n.Removed = append(n.Removed, s)
			continue
		}
		open := func(actions ...app.Action) bool {
			return slices.ContainsFunc(actions, func(a app.Action) bool { return slices.Contains(services[s], a) })
		}
		switch {
		case (d.latest.Kind == app.OperationUpgrade || d.undone == app.OperationUpgrade) && (open(app.ActionInstall) || open(app.ActionConfigure) && open(app.ActionStart)):
			n.AllWork(s, plan.WorkUpgrade)
		case open(app.ActionInstall, app.ActionInitialize), open(app.ActionConfigure) && open(app.ActionStart) && !open(app.ActionStop) && !d.recovery().Power():
			n.Added = append(n.Added, s) // it doesn't run yet, so it would read nothing
		case open(app.ActionConfigure, app.ActionReload):
			n.AllWork(s, plan.WorkReload)
		case open(app.ActionStop) && !open(app.ActionStart):
			n.AllWork(s, plan.WorkStop)
		case open(app.ActionStart) && !open(app.ActionStop):
			n.AllWork(s, plan.WorkStart)
		default:
			n.AllWork(s, plan.WorkRestart)
		}
	}
}

// clearLeft has nodes given back that an operation which did not end well was to give back.
func (d *updateBuilder) clearLeft() {
	for _, n := range d.left {
		d.nodes = append(d.nodes, cluster.UpdatedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: []string{}, Change: plan.NodeGone,
			Reason: d.latest.Kind.The() + " didn't finish there"})
	}
	slices.SortStableFunc(d.nodes, func(a, b cluster.UpdatedNode) int { return health.NodesInOrder(a.Name, b.Name) })
}

// unfinished returns the nodes that the latest operation has not made to the end, and of others what it has not done, by service.
func (d *updateBuilder) unfinished() (unmade map[string]bool, undone map[string]map[string][]app.Action) {
	unmade, undone = map[string]bool{}, map[string]map[string][]app.Action{}
	for _, st := range d.open {
		n := d.node(st.Node)
		switch {
		case n == nil:
		case st.Action == app.ActionCreate, st.Action == app.ActionConfirm, st.Action == app.ActionDelete:
			unmade[n.Name] = true
		case slices.Contains(n.Services, st.Service), d.all[st.Service] != nil && (st.Action == app.ActionStop || st.Action == app.ActionRemove):
			if undone[n.Name] == nil {
				undone[n.Name] = map[string][]app.Action{}
			}
			undone[n.Name][st.Service] = append(undone[n.Name][st.Service], st.Action)
		}
	}
	return unmade, undone
}

// mostLostNames is how many nodes such a message names.
const mostLostNames = 10

// LostWords is the message of a cluster that has lost the machines of nodes.
func LostWords(nodes []string) string {
	return lostNames(nodes) + " The cluster becomes active again when its machines run."
}

// LostAsleepWords tell of the same in a cluster that is asleep.
func LostAsleepWords(nodes []string) string {
	return lostNames(nodes) + " Waking the cluster skips them; a repair replaces them afterwards."
}

func lostNames(nodes []string) string {
	text := strings.Join(nodes[:min(len(nodes), mostLostNames)], ", ")
	if len(nodes) > mostLostNames {
		text += ", …"
	}
	return health.LostMachines + text + "."
}

// unhealthyNodes returns the nodes of a cluster that are not well, as far as is known now: those whose machines are lost, and those that health checks
// have found to be unhealthy or unreachable recently.
func (a *Builder) unhealthyNodes(ctx context.Context, s *standing) ([]string, error) {
	unhealthy := health.LostNodes(s.Cluster, s.nodes)
	for _, n := range s.nodes {
		if n.Interrupted() {
			unhealthy = append(unhealthy, n.Name)
		}
	}
	h, err := a.Views.ClusterHealth(ctx, s.Cluster, s.nodes)
	if err != nil || h == nil {
		return unhealthy, err
	}
	for _, n := range h.Nodes {
		if n.Ill() && n.Checks > 0 && s.node(n.Node) != nil && !slices.Contains(unhealthy, n.Node) {
			unhealthy = append(unhealthy, n.Node)
		}
	}
	return unhealthy, nil
}
