package cluster

import (
	"context"
	"slices"

	"muster/app"
)

// Unfinished is what an operation that did not end well has left undone, as far as it decides which ways lead on. It's of the same size
// however large the plan is.
type Unfinished struct {
	Failures []app.Step // the first that failed, in plan order, MostFailedSteps at most
	Failed   int        // how many failed
	Machines int        // nodes whose machines aren't created, set up or deleted to the end
	Other    bool       // something failed, or is left that belongs to no node: more is wrong than machines that are missing
	Stuck    bool       // something is left to do on a node whose machine is gone, other than to delete it
}

// MostFailedSteps is how many failed steps are shown by themselves.
const MostFailedSteps = 3

// UnfinishedOf is what steps of an operation leave undone, where its cluster has these nodes. Stores count the same without reading them all.
func UnfinishedOf(steps []app.Step, nodes []app.Node) (u Unfinished) {
	machines := map[string]bool{}
	for _, s := range steps {
		if s.Join || s.State == app.StepSucceeded {
			continue
		}
		if s.State == app.StepFailed {
			if u.Failed++; u.Failed <= MostFailedSteps {
				u.Failures = append(u.Failures, s)
			}
		}
		if s.Action.OnMachine() {
			machines[s.Node] = true
		} else if s.State == app.StepFailed || s.Node == "" && s.Service == "" && s.Action != app.ActionHook {
			u.Other = true
		}
		if s.Action != app.ActionDelete && slices.ContainsFunc(nodes, func(n app.Node) bool { return n.Name == s.Node && n.Lost() }) {
			u.Stuck = true
		}
	}
	u.Machines = len(machines)
	return u
}

// unfinished returns what the latest operation of a failed cluster has not done.
func (a *Views) unfinished(ctx context.Context, v View) (Unfinished, error) {
	o := LatestLeft(v.Operations)
	if v.Status != app.ClusterFailed || o.Status != app.OperationFailed && o.Status != app.OperationCancelled {
		return Unfinished{}, nil
	}
	return a.Store.Unfinished(ctx, v.Tenant, o.ID)
}
