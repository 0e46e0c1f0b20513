package app

import "slices"

// Actions are the changes that can be asked for at the moment. All faces take what they offer from here, so none of it is refused for the
// state that the cluster or a node is in.
type Actions struct {
	Cluster   []OperationKind `json:"cluster"`
	Nodes     []OperationKind `json:"nodes"`
	LostNodes []OperationKind `json:"lost_nodes"`
}

// Whole has lists that are there, since those that aren't would be written as null.
func (a Actions) Whole() Actions {
	for _, list := range []*[]OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		if *list == nil {
			*list = []OperationKind{}
		}
	}
	return a
}

// Of leaves out what an actor may not do.
func (a Actions) Of(actor Actor, c Cluster) Actions {
	if c.Pool > 0 && actor.Via != ViaServer { // see MayChange
		return Actions{}.Whole()
	}
	for _, list := range []*[]OperationKind{&a.Cluster, &a.Nodes, &a.LostNodes} {
		*list = slices.DeleteFunc(*list, func(k OperationKind) bool { return !actor.MayIn(k.UseCase(), c) })
	}
	return a
}

// UseCase is whose permission an amendment of the kind needs.
func (k OperationKind) UseCase() string {
	if k.ServicesOnly() {
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
