package portal

import (
	"context"

	"muster/app"
	"muster/app/catalog"
)

type catalogListInput struct {
	Kind  string `query:"kind" maxLength:"20" doc:"Only entries of a kind: template, service, image, hardware or provider"`
	Query string `query:"query" maxLength:"200" doc:"Only entries with these words in name, label or description"`
}

type catalogItemList struct {
	Items []catalog.CatalogItem `json:"items" nullable:"false"`
}

// Path names an entry. It is exported since huma leaves out embedded fields that are not.
type CatalogPath struct {
	Kind string `path:"kind" maxLength:"20" doc:"template, service, image, hardware or provider"`
	Name string `path:"name" maxLength:"255" doc:"The entry's name"`
}

func (c CatalogPath) key() app.CatalogKey { return app.CatalogKey{Kind: c.Kind, Name: c.Name} }

type catalogRevisionList struct {
	Versions []catalog.CatalogRevision `json:"versions" nullable:"false" doc:"The newest first"`
}

type catalogChangeInput struct{ Body catalog.CatalogChange }

type catalogRevertInput struct {
	CatalogPath
	Body struct {
		Number int    `json:"number" minimum:"0" doc:"The version whose text is saved again; 0 takes the own entry out"`
		Note   string `json:"note,omitempty" maxLength:"1000" doc:"Why"`
	}
}

type catalogTryInput struct {
	Body struct {
		Change  catalog.CatalogChange `json:"change"`
		Request app.ClusterRequest    `json:"request"`
	}
}

type catalogExportInput struct {
	All bool `query:"all" doc:"Also the entries of the installation"`
}

type catalogFileList struct {
	Files []catalog.CatalogFile `json:"files" nullable:"false"`
}

func (p *Portal) apiCatalogList(ctx context.Context, in *catalogListInput) (*body[catalogItemList], error) {
	list, err := p.cataloging().CatalogItems(ctx, caller(ctx), in.Kind, in.Query)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalogItemList]{catalogItemList{orEmpty(list)}}, nil
}

func (p *Portal) apiCatalogShow(ctx context.Context, in *CatalogPath) (*body[catalog.CatalogSource], error) {
	s, err := p.cataloging().CatalogSource(ctx, caller(ctx), in.key())
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalog.CatalogSource]{s}, nil
}

func (p *Portal) apiCatalogHistory(ctx context.Context, in *CatalogPath) (*body[catalogRevisionList], error) {
	list, err := p.cataloging().CatalogHistory(ctx, caller(ctx), in.key())
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalogRevisionList]{catalogRevisionList{orEmpty(list)}}, nil
}

func (p *Portal) apiCatalogCheck(ctx context.Context, in *catalogChangeInput) (*body[catalog.CatalogReport], error) {
	return p.catalogReport(ctx)(p.cataloging().CheckCatalog(ctx, caller(ctx), in.Body))
}

func (p *Portal) apiCatalogApply(ctx context.Context, in *catalogChangeInput) (*body[catalog.CatalogReport], error) {
	return p.catalogReport(ctx)(p.cataloging().ApplyCatalog(ctx, caller(ctx), in.Body))
}

func (p *Portal) apiCatalogRevert(ctx context.Context, in *catalogRevertInput) (*body[catalog.CatalogReport], error) {
	return p.catalogReport(ctx)(p.cataloging().RevertCatalog(ctx, caller(ctx), in.key(), in.Body.Number, in.Body.Note))
}

func (p *Portal) catalogReport(ctx context.Context) func(catalog.CatalogReport, error) (*body[catalog.CatalogReport], error) {
	return func(r catalog.CatalogReport, err error) (*body[catalog.CatalogReport], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		return &body[catalog.CatalogReport]{r}, nil
	}
}

func (p *Portal) apiCatalogTry(ctx context.Context, in *catalogTryInput) (*body[app.Preview], error) {
	v, err := p.cataloging().TryCatalog(ctx, caller(ctx), in.Body.Change, in.Body.Request)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Preview]{v}, nil
}

func (p *Portal) apiCatalogExport(ctx context.Context, in *catalogExportInput) (*body[catalogFileList], error) {
	files, err := p.cataloging().ExportCatalog(ctx, caller(ctx), in.All)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalogFileList]{catalogFileList{orEmpty(files)}}, nil
}

func (p *Portal) apiCatalogFamilies(ctx context.Context, _ *struct{}) (*body[catalog.Families], error) {
	f, err := p.cataloging().CatalogFamilies(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalog.Families]{f}, nil
}
