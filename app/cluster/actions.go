package cluster

import (
	"slices"

	"muster/app"
)

// Actions are the changes that can be asked for at the moment. All faces take what they offer from here, so none of it is refused for the
// state that the cluster or a node is in.
type Actions struct {
	Cluster   []app.OperationKind `json:"cluster"`
	Nodes     []app.OperationKind `json:"nodes"`
	LostNodes []app.OperationKind `json:"lost_nodes"`
}

// whole sets missing lists to empty ones, since those would be written as null.
func (a Actions) whole() Actions {
	for _, list := range []*[]app.OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		if *list == nil {
			*list = []app.OperationKind{}
		}
	}
	return a
}

// Of leaves out what an actor may not do.
func (a Actions) Of(actor app.Actor, c app.Cluster) Actions {
	if c.Pool > 0 && actor.Via != app.ViaServer || c.KeptFrom != "" { // see MayChange
		return Actions{}.whole()
	}
	for _, list := range []*[]app.OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		*list = slices.DeleteFunc(*list, func(k app.OperationKind) bool { return !actor.MayIn(k.UseCase(), c) })
	}
	return a
}

// On returns the actions that may name a node.
func (a Actions) On(n app.Node) []app.OperationKind {
	switch {
	case n.Status == app.NodeDeleted || n.Leaving:
		return nil
	case n.Lost():
		return a.LostNodes
	}
	return a.Nodes
}

// Acts are what a person can do about an operation of the cluster: those of its state that can work with the existing machines. Latest
// tells that nothing was asked of the cluster after it.
func (v View) Acts(o app.Operation, latest bool) []app.Act {
	return slices.DeleteFunc(o.Acts(latest), func(a app.Act) bool {
		return a == app.ActRollBack && v.KeptFrom != "" || a == app.ActResume && v.Problem != nil && v.Problem.Operation == o.ID && !v.Problem.offers(RecoveryResume)
	})
}

// ActionsOf returns what can be asked of a cluster as it is, by people who may do everything. Nodes and operations are its own, newest
// operation first.
func ActionsOf(v View, open Unfinished) Actions {
	var a Actions
	p := NewRecovery(v, open)
	stays := slices.ContainsFunc(v.Nodes, func(n app.Node) bool { return n.Status != app.NodeDeleted && !n.Leaving })
	if v.Status != app.ClusterActive && v.Status != app.ClusterFailed || p.Latest.ID != 0 && !p.Latest.Status.Ended() || !stays {
		return a.whole()
	}
	for _, k := range app.Updates {
		switch {
		case k == app.OperationCompare: // changes nothing; whether it can be done depends on the tools of the services
			continue
		case v.Status == app.ClusterFailed && !p.Updates(k):
			continue
		}
		a.Cluster = append(a.Cluster, k)
		if !slices.Contains(updateFields[k], "nodes") {
			continue
		}
		if k != app.OperationResize || p.nodes > 1 { // the last node stays
			a.Nodes = append(a.Nodes, k)
		}
		if k == app.OperationRepair {
			a.LostNodes = append(a.LostNodes, k)
		}
	}
	return a.whole()
}

// Updates reports whether a change of a kind can be asked of a failed cluster. Services can be started and stopped where that leaves nothing
// undone, on the existing nodes.
func (p Recovery) Updates(kind app.OperationKind) bool {
	switch kind {
	case app.OperationRepair:
		return p.canRepair()
	case app.OperationReconfigure:
		return p.reconfigures()
	case app.OperationStart, app.OperationStop, app.OperationRestart:
		return (p.LostOnly() || p.Latest.Kind.ServicesOnly()) && p.nodes > len(p.Lost)+len(p.left)
	}
	return false
}
