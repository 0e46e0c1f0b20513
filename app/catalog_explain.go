package app

import "context"

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
