package operation

import (
	"maps"
	"slices"

	"muster/app/cluster"
	"muster/app/plan"
)

// updatedNodes are the nodes of a cluster that changes: in number order, new ones last.
type updatedNodes []cluster.UpdatedNode

// after returns the nodes that exist afterwards.
func (l updatedNodes) after() updatedNodes {
	return slices.DeleteFunc(slices.Clone(l), func(n cluster.UpdatedNode) bool { return n.Change == plan.NodeGone })
}

// services returns the services on them, sorted, each once.
func (l updatedNodes) services() []string {
	all := map[string]bool{}
	for _, n := range l {
		for _, s := range n.Services {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// anyOf reports whether there is a node with such a change.
func (l updatedNodes) anyOf(changes ...plan.NodeChange) bool {
	return slices.ContainsFunc(l, func(n cluster.UpdatedNode) bool { return slices.Contains(changes, n.Change) })
}

// batched counts those on which something is done batch by batch: services that only start or stop are not.
func (l updatedNodes) batched() (n int) {
	for _, node := range l {
		for _, w := range node.Work {
			if w != plan.WorkStart && w != plan.WorkStop && w != plan.WorkStopConfigure {
				n++
				break
			}
		}
	}
	return n
}
