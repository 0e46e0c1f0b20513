package execution

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
)

// ReasonKept is the reason of a confirm that failed because its machine didn't come up, where that is to be kept for inspection and the node is to get another.
const ReasonKept = "machine_kept"

// keepTries is in how many attempts a confirm may ask for its machine to be kept. Where there is no room for it in these, the machine is deleted.
const keepTries = 2

// keepsUnconfirmed reports whether the machine of a claimed confirm is kept where it doesn't come up. Of a node's machines only the first is.
func keepsUnconfirmed(c *ClaimedStep, d appcluster.Definition) bool {
	return c.Step.Action == app.ActionConfirm && d.KeepFailed.For() > 0 && c.Cluster.Pool == 0 && c.Step.Tries <= keepTries && len(c.Replacements) == 0 &&
		c.Node.MachineID != "" && c.Node.TakenFrom == ""
}

// keepUnconfirmed makes up what the store needs to keep the machine of a confirm. Where it can't be found out, the machine stays its node's, and the next
// attempt sees to it: the other reports of the message must not wait for that.
func (a *Service) keepUnconfirmed(ctx context.Context, w app.WorkerID, r Report) *appcluster.KeptMachine {
	if r.Action != app.ActionConfirm || r.Err == nil || r.Err.Reason != ReasonKept || a.Keeping == nil {
		return nil
	}
	step, c, node, err := a.Steps.HeldStep(ctx, w, r.Fence)
	if err != nil {
		return nil // a stale one is refused by FinishSteps
	}
	oc, err := a.configs.get(ctx, a, &ClaimedStep{Tenant: w.Tenant, Step: step, Cluster: c})
	if err != nil || !keepsUnconfirmed(&ClaimedStep{Step: step, Cluster: c, Node: node}, oc.definition) {
		return nil
	}
	return a.draftKept(ctx, c, node, oc.definition)
}

func (a *Service) draftKept(ctx context.Context, c app.Cluster, node app.Node, d appcluster.Definition) *appcluster.KeptMachine {
	keep := d.KeepFailed
	s, err := a.Keeping.Select(ctx, c.Tenant, keep, []app.Node{node}, map[string]string{node.Name: node.Name + ".confirm failed"})
	if err != nil {
		return nil
	}
	kept, err := a.Keeping.Draft(ctx, c, d, s, false)
	if err != nil || len(kept) == 0 {
		return nil
	}
	return &kept[0]
}
