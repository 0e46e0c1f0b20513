package app

import "slices"

// Actions are the changes that can be asked for at the moment. All faces take what they offer from here, so none of it is refused for the
// state that the cluster or a node is in.
type Actions struct {
	Cluster   []OperationKind `json:"cluster" nullable:"false" doc:"Changes of the cluster, or of services on all of its nodes"`
	Nodes     []OperationKind `json:"nodes" nullable:"false" doc:"Changes that may name a node whose machine is there"`
	LostNodes []OperationKind `json:"lost_nodes" nullable:"false" doc:"Changes that may name a node whose machine is gone"`
}

// ActionsOf returns what can be asked of a cluster as it is, by people who may do everything. Nodes and operations are its own, newest
// operation first.
func ActionsOf(v ClusterView, open Unfinished) Actions {
	var a Actions
	p := newPlight(v, open)
	stays := slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Status != NodeDeleted && !n.Leaving })
	if v.Status != ClusterActive && v.Status != ClusterFailed || p.latest.ID != 0 && !p.latest.Status.Ended() || !stays {
		return a.whole()
	}
	for _, k := range Amendments {
		switch {
		case k == OperationCompare: // changes nothing; whether it can be done depends on the tools of the services
			continue
		case v.Status == ClusterFailed && !p.amends(k):
			continue
		}
		a.Cluster = append(a.Cluster, k)
		if !slices.Contains(amendFields[k], "nodes") {
			continue
		}
		if k != OperationResize || p.nodes > 1 { // the last node stays
			a.Nodes = append(a.Nodes, k)
		}
		if k == OperationRepair {
			a.LostNodes = append(a.LostNodes, k)
		}
	}
	return a.whole()
}

// amends tells whether a change of a kind can be asked of a failed cluster. Services can be started and stopped where that leaves nothing
// undone, on the nodes that are there.
func (p plight) amends(kind OperationKind) bool {
	switch kind {
	case OperationRepair:
		return p.mends()
	case OperationReconfigure:
		return p.reconfigures()
	case OperationStart, OperationStop, OperationRestart:
		return (p.lostOnly() || p.latest.Kind.servicesOnly()) && p.nodes > len(p.lost)+len(p.left)
	}
	return false
}

// whole has lists that are there, since those that aren't would be written as null.
func (a Actions) whole() Actions {
	for _, list := range []*[]OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		if *list == nil {
			*list = []OperationKind{}
		}
	}
	return a
}

// of leaves out what an actor may not do.
func (a Actions) of(actor Actor, c Cluster) Actions {
	if c.Pool > 0 && actor.Via != ViaServer { // see mayChange
		return Actions{}.whole()
	}
	for _, list := range []*[]OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		*list = slices.DeleteFunc(*list, func(k OperationKind) bool { return !actor.MayIn(k.useCase(), c) })
	}
	return a
}

// useCase is whose permission an amendment of the kind needs.
func (k OperationKind) useCase() string {
	if k.servicesOnly() {
		return "AmendServices"
	}
	return "Amend"
}

// On returns the actions that may name a node.
func (a Actions) On(n Node) []OperationKind {
	switch {
	case n.Status == NodeDeleted || n.Leaving:
		return nil
	case n.Lost():
		return a.LostNodes
	}
	return a.Nodes
}

// Acts are what a person can do about an operation of the cluster: those of its state that can work with the machines that are there. Latest
// tells that nothing was asked of the cluster after it.
func (v ClusterView) Acts(o Operation, latest bool) []Act {
	return slices.DeleteFunc(o.Acts(latest), func(a Act) bool {
		return a == ActResume && v.Trouble != nil && v.Trouble.Operation == o.ID && !v.Trouble.offers(WayResume)
	})
}
