package cluster

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/catalog"
	"muster/app/layout"
)

// TrialsConfig is what Trials is created from.
type TrialsConfig struct {
	Catalogs  *catalog.Service
	Preflight *Preflight
	Creates   *Creates
}

// Trials previews clusters as if a change of the catalog were saved.
type Trials struct {
	TrialsConfig
}

// NewTrials returns Trials on top of their needs.
func NewTrials(c TrialsConfig) *Trials { return &Trials{TrialsConfig: c} }

// ExplainCatalog says why a request would have no layout if a change were saved. It is empty for a request that would have one. Nothing is
// saved. EInvalid, reason catalog_problems, where the texts are wrong.
func (a *Trials) ExplainCatalog(ctx context.Context, actor app.Actor, c catalog.Change, r CreateRequest) (layout.Explanation, error) {
	if err := actor.Authorize("ExplainCatalog"); err != nil {
		return layout.Explanation{}, err
	}
	d, err := a.Catalogs.WorkOutChange(ctx, actor, c)
	if err != nil {
		return layout.Explanation{}, err
	}
	if !d.Report.OK() {
		return layout.Explanation{}, &app.Error{Code: app.EInvalid, Reason: "catalog_problems", Message: "The catalog files are invalid.", Hint: "Validate the catalog first."}
	}
	return a.Creates.Explain(catalog.Trying(ctx, actor.Tenant, d.After), actor, r)
}

// TryCatalog solves and plans a request as if the change were saved. Nothing is saved. EInvalid, reason catalog_problems, where the texts
// are wrong: CheckCatalog tells all about it.
func (a *Trials) TryCatalog(ctx context.Context, actor app.Actor, c catalog.Change, r CreateRequest) (Preview, error) {
	if err := actor.Authorize("TryCatalog"); err != nil {
		return Preview{}, err
	}
	d, err := a.Catalogs.WorkOutChange(ctx, actor, c)
	if err != nil {
		return Preview{}, err
	}
	for _, p := range d.Report.Problems {
		if p.Severity == catalog.SeverityError {
			at := p.CatalogKey.String()
			if p.Kind == "" {
				at = p.File
			}
			return Preview{}, &app.Error{Code: app.EInvalid, Reason: "catalog_problems", Field: p.Field, Message: fmt.Sprintf("%s: %s", at, p.Message), Hint: p.Hint}
		}
	}
	ctx = catalog.Trying(ctx, actor.Tenant, d.After)
	w, err := a.Creates.EvaluateRequest(ctx, actor, r, true)
	if err == nil {
		w.Preview.FromPools, err = a.Creates.matchForCreate(ctx, actor.Tenant, w.Draft, w.Preview)
		w.Preview.Cheaper = a.Creates.cheaper(ctx, actor.Tenant, w.Draft, w.Preview.Layout)
		w.Preview.Problems = a.Preflight.scriptProblems(w.Draft.Definition) // an account is asked by what is saved
	}
	return w.Preview, err
}
