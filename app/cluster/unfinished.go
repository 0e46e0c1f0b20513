package cluster

import (
	"context"
	"slices"

	"muster/app"
)

// MostFailedSteps is how many failed steps are shown by themselves.
const MostFailedSteps = 3

// UnfinishedOf is what steps of an operation leave undone, where its cluster has these nodes. Stores count the same without reading them all.
func UnfinishedOf(steps []app.Step, nodes []app.Node) (u app.Unfinished) {
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
func (a *Service) unfinished(ctx context.Context, v app.ClusterView) (app.Unfinished, error) {
	o := LatestBegun(v.Operations)
	if v.Status != app.ClusterFailed || o.Status != app.OperationFailed && o.Status != app.OperationCancelled {
		return app.Unfinished{}, nil
	}
	return a.Store.Unfinished(ctx, v.Tenant, o.ID)
}
