package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/quarantine"
	"muster/app/volume"
)

// reused is a failed machine that was kept for inspection and is used again: the cluster grows by a node, which it becomes the machine of. It comes to the
// node as a machine of a pool would: promised when the operation is accepted, handed out when the node's create begins.
type reused struct {
	quarantine.Machine
	node       app.Node // that it is while it's kept
	definition cluster.Definition
	as         string // the new node
}

// keptAsked checks that the actor may take the kept machine of an update from where it is, and has the update name it by its ID.
func (a *Updates) keptAsked(ctx context.Context, actor app.Actor, c app.Cluster, m *cluster.Update) error {
	if m.KeptMachine == "" || m.Check() != nil {
		return nil //nolint:nilerr // what is wrong with it is said as of all updates
	}
	k, err := a.Clusters.FindCluster(ctx, actor, m.KeptMachine)
	switch {
	case app.CodeOf(err) == app.ENotFound, err == nil && k.KeptFrom != c.ID:
		return noKept(c, m.KeptMachine)
	case err != nil:
		return err
	}
	m.KeptMachine = k.ID
	return actor.MayChange("DeleteCluster", k)
}

func noKept(c app.Cluster, name string) error {
	e := &app.Error{Code: app.EInvalid, Field: "kept_machine", Reason: quarantine.ReasonGone}
	e.Message = fmt.Sprintf("Cluster %q has no kept machine %.80q.", c.Name, name)
	e.Hint = fmt.Sprintf("See its kept machines: muster cluster kept %s. A machine can only be used again in the cluster that it was in.", c.Name)
	return e
}

// reuse grows the cluster by a node whose machine is one that was kept.
func reuse(ctx context.Context, a *Builder, d *updateBuilder) (err error) {
	if d.reused, err = a.keptMachine(ctx, d.Cluster, d.ask.KeptMachine); err != nil {
		return err
	}
	size := len(d.standing.nodes) + 1
	if d.ask.Size != 0 && d.ask.Size != size {
		return cluster.InvalidUpdate("size", fmt.Sprintf("With the kept machine, the cluster has %d nodes, not %d.", size, d.ask.Size), "Omit the size.")
	}
	k := d.reused
	ask := layout.ChangeRequest{Nodes: d.existingNodes(), Size: size, Hardware: k.node.Hardware, Image: k.node.Image}
	if err := d.change(ctx, a, ask); err != nil {
		return err
	}
	i := slices.IndexFunc(d.nodes, func(n cluster.UpdatedNode) bool { return n.Change == plan.NodeNew })
	if i < 0 || d.nodes[i].Hardware != k.node.Hardware || d.nodes[i].Image != k.node.Image || d.nodes.anyOf(plan.NodeGone) {
		return &app.Error{Code: app.ENoLayout, Field: "kept_machine", Reason: "no_solution",
			Message: fmt.Sprintf("The template doesn't allow one more node of hardware %s and image %s.", k.node.Hardware, k.node.Image),
			Hint:    "Remove a node first, or create a new machine: muster cluster grow."}
	}
	n := &d.nodes[i]
	n.Zone, n.Reason = k.node.Zone, "uses kept machine "+k.Name+" again"
	k.as = n.Name
	// It is what it was when it was made, whatever the catalog says by now; what other nodes are made of stays.
	d.definition.Hardware[n.Hardware] = entryOf(n.Hardware, d.was.Hardware, k.definition.Hardware)
	d.definition.Images[n.Image] = entryOf(n.Image, d.was.Images, k.definition.Images)
	d.definition.FallbackHardware = d.was.FallbackHardware
	d.note("Uses the kept machine %s again as %s instead of creating one. Its files stay, and all services are installed again.", k.Name, n.Name)
	return nil
}

// keptMachine reads a machine that is kept of a cluster, and refuses one that can't be used now.
func (a *Builder) keptMachine(ctx context.Context, c app.Cluster, id string) (*reused, error) {
	all, err := a.Store.KeptMachines(ctx, c.Tenant, nil, c.ID, quarantine.MostKept)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(m quarantine.Machine) bool { return m.ID == id })
	if i < 0 {
		return nil, noKept(c, id)
	}
	k := &reused{Machine: all[i]}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, k.ID)
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 || k.MachineID == "" {
		return nil, noKept(c, id)
	}
	k.node = nodes[0]
	if err := k.Usable(k.node); err != nil {
		return nil, err
	}
	k.definition, err = a.Store.Definition(ctx, c.Tenant, k.ID)
	return k, err
}

// checkReused refuses a kept machine for a node whose volumes come before the machine: it was created without them.
func checkReused(d *updateBuilder) error {
	if d.reused == nil || !volume.MadeFirst(d.volumes, d.reused.as) {
		return nil
	}
	return &app.Error{Code: app.ENoLayout, Field: "kept_machine", Reason: "volumes",
		Message: fmt.Sprintf("The new node would have volumes, which provider %s can only add when it creates a machine.", d.Provider),
		Hint:    "Create a new machine: muster cluster grow " + d.Name + "."}
}

// noPool reports whether a new node takes no machine of a pool: it has a kept one, or volumes that come before the machine.
func noPool(d *updateBuilder, node string) bool {
	return d.reused != nil && d.reused.as == node || volume.MadeFirst(d.volumes, node)
}

// entryOf returns the entry of the first map that has the name.
func entryOf[T any](name string, first, second map[string]T) T {
	if e, ok := first[name]; ok {
		return e
	}
	return second[name]
}
