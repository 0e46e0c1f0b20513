package app

import (
	"context"
	"fmt"
)

// ExplainCatalog says why a request would have no layout if a change were saved. It is empty for a request that would have one. Nothing is
// saved. EInvalid, reason catalog_problems, where the texts are wrong.
func (a *App) ExplainCatalog(ctx context.Context, actor Actor, c CatalogChange, r ClusterRequest) (Explanation, error) {
	if err := actor.may("ExplainCatalog"); err != nil {
		return Explanation{}, err
	}
	d, err := a.workOutChange(ctx, actor, c)
	if err != nil {
		return Explanation{}, err
	}
	if !d.report.OK() {
		return Explanation{}, &Error{Code: EInvalid, Reason: "catalog_problems", Message: "The texts are wrong.", Hint: "Check them first."}
	}
	return a.Explain(trying(ctx, actor.Tenant, d.after), actor, r)
}

// TryCatalog solves and plans a request as if the change were saved. Nothing is saved. EInvalid, reason catalog_problems, where the texts
// are wrong: CheckCatalog tells all about it.
func (a *App) TryCatalog(ctx context.Context, actor Actor, c CatalogChange, r ClusterRequest) (Preview, error) {
	if err := actor.may("TryCatalog"); err != nil {
		return Preview{}, err
	}
	d, err := a.workOutChange(ctx, actor, c)
	if err != nil {
		return Preview{}, err
	}
	for _, p := range d.report.Problems {
		if p.Severity == severityError {
			at := p.CatalogKey.String()
			if p.Kind == "" {
				at = p.File
			}
			return Preview{}, &Error{Code: EInvalid, Reason: "catalog_problems", Field: p.Field, Message: fmt.Sprintf("%s: %s", at, p.Message), Hint: p.Hint}
		}
	}
	ctx = trying(ctx, actor.Tenant, d.after)
	w, err := a.weigh(ctx, actor, r)
	if err == nil {
		w.preview.FromPools, err = a.createOffer(ctx, actor.Tenant, w.draft, w.preview)
		w.preview.Cheaper = a.cheaper(ctx, actor.Tenant, w.draft, w.preview.Layout)
		w.preview.Problems = a.scriptProblems(w.draft.definition) // an account is asked by what is saved
	}
	return w.preview, err
}
