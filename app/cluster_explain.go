package app

import (
	"context"
	"time"
)

// explainTime is how long a person who was refused may be kept waiting for the reasons.
const explainTime = 8 * time.Second

// Explain says why a request has no layout, and what would make one possible. It is empty for a request that has one,
// and where the installation cannot explain. Nothing is accepted or written.
func (a *App) Explain(ctx context.Context, actor Actor, r ClusterRequest) (Explanation, error) {
	if err := actor.may("Explain"); err != nil {
		return Explanation{}, err
	}
	if a.Explainer == nil {
		return Explanation{}, nil
	}
	if err := checkSize(r.Size); err != nil {
		return Explanation{Problems: []*Error{AsError(err)}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, explainTime)
	defer cancel()
	leave, err := a.solving.enter(ctx, actor.Tenant)
	if err != nil {
		return Explanation{}, err
	}
	defer leave()
	c, err := a.catalogOf(ctx, actor.Tenant)
	if err != nil {
		return Explanation{}, err
	}
	t, err := c.templateFor(actor, r.Template)
	if t != nil {
		r, _, err = r.settled(t)
	}
	if err != nil {
		return Explanation{Problems: []*Error{AsError(err)}}, nil
	}
	x, err := a.Explainer.Explain(ctx, c.For(actor), r.LayoutRequest)
	if !actor.seesDrafts() {
		for i := range x.Conflict {
			x.Conflict[i].Origin = "" // where it is written is of use to those who can change it
		}
	}
	return x, err
}
