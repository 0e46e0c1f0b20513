package explain

import (
	"context"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// problems explains a request that cannot be asked.
func (x *Explainer) problems(ctx context.Context, c *template.Catalog, r layout.Request, refused error) layout.Explanation {
	var e layout.Explanation
	is := app.AsError(refused)
	reported := false
	for _, f := range request.Flaws(c, r) {
		e.Problems = append(e.Problems, f.Error)
		reported = reported || f.Reason == is.Reason || f.Field == is.Field
	}
	if !reported { // the solver refuses something unknown here
		e.Problems = append([]*app.Error{is}, e.Problems...)
	}
	e.Fixes = x.repair(ctx, c, r)
	return e
}
