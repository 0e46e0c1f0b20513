package cluster

import (
	"slices"

	"muster/app"
)

// ActionsOf returns what can be asked of a cluster as it is, by people who may do everything. Nodes and operations are its own, newest
// operation first.
func ActionsOf(v app.ClusterView, open app.Unfinished) app.Actions {
	var a app.Actions
	p := NewPlight(v, open)
	stays := slices.ContainsFunc(v.Nodes, func(n app.Node) bool { return n.Status != app.NodeDeleted && !n.Leaving })
	if v.Status != app.ClusterActive && v.Status != app.ClusterFailed || p.Latest.ID != 0 && !p.Latest.Status.Ended() || !stays {
		return a.Whole()
	}
	for _, k := range app.Amendments {
		switch {
		case k == app.OperationCompare: // changes nothing; whether it can be done depends on the tools of the services
			continue
		case v.Status == app.ClusterFailed && !p.Amends(k):
			continue
		}
		a.Cluster = append(a.Cluster, k)
		if !slices.Contains(app.AmendFields[k], "nodes") {
			continue
		}
		if k != app.OperationResize || p.nodes > 1 { // the last node stays
			a.Nodes = append(a.Nodes, k)
		}
		if k == app.OperationRepair {
			a.LostNodes = append(a.LostNodes, k)
		}
	}
	return a.Whole()
}

// Amends tells whether a change of a kind can be asked of a failed cluster. Services can be started and stopped where that leaves nothing
// undone, on the nodes that are there.
func (p Plight) Amends(kind app.OperationKind) bool {
	switch kind {
	case app.OperationRepair:
		return p.mends()
	case app.OperationReconfigure:
		return p.reconfigures()
	case app.OperationStart, app.OperationStop, app.OperationRestart:
		return (p.LostOnly() || p.Latest.Kind.ServicesOnly()) && p.nodes > len(p.Lost)+len(p.left)
	}
	return false
}
