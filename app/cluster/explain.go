package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// explainTime is how long a person who was refused may be kept waiting for the reasons.
const explainTime = 8 * time.Second

// Explain says why a request has no layout, and what would make one possible. It is empty for a request that has one,
// and where the installation cannot explain. Nothing is accepted or written.
func (a *Creates) Explain(ctx context.Context, actor app.Actor, r CreateRequest) (layout.Explanation, error) {
	if err := actor.Authorize("Explain"); err != nil {
		return layout.Explanation{}, err
	}
	if a.Explainer == nil {
		return layout.Explanation{}, nil
	}
	if err := template.CheckSize(r.Size); err != nil {
		return layout.Explanation{Problems: []*app.Error{app.AsError(err)}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, explainTime)
	defer cancel()
	leave, err := a.Solving.Enter(ctx, actor.Tenant)
	if err != nil {
		return layout.Explanation{}, err
	}
	defer leave()
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return layout.Explanation{}, err
	}
	t, err := c.TemplateFor(actor, r.Template)
	if t != nil {
		r, _, err = r.resolved(t)
	}
	if err != nil {
		return layout.Explanation{Problems: []*app.Error{app.AsError(err)}}, nil
	}
	x, err := a.Explainer.Explain(ctx, c.For(actor), r.Request)
	if !actor.SeesDrafts() {
		for i := range x.Conflict {
			x.Conflict[i].Origin = "" // where it is written is of use to those who can change it
		}
	}
	return x, err
}
