package catalog

import (
	"context"

	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/template"
	"muster/portal/site"
)

type catalogListInput struct {
	Kind  string `query:"kind" maxLength:"20" doc:"Filter by kind: template, service, image, hardware or provider"`
	Query string `query:"query" maxLength:"200" doc:"Search in name, label and description"`
}

type catalogItemList struct {
	Items []catalog.Item `json:"items" nullable:"false"`
}

// Path names an entry. It is exported since huma leaves out embedded fields that are not.
type CatalogPath struct {
	Kind string `path:"kind" maxLength:"20" doc:"template, service, image, hardware or provider"`
	Name string `path:"name" maxLength:"255" doc:"Name of the entry"`
}

func (c CatalogPath) key() template.CatalogKey {
	return template.CatalogKey{Kind: c.Kind, Name: c.Name}
}

type catalogRevisionList struct {
	Versions []catalog.Revision `json:"versions" nullable:"false" doc:"Versions, newest first"`
}

type catalogChangeInput struct{ Body catalog.Change }

type catalogRevertInput struct {
	CatalogPath
	Body struct {
		Number int    `json:"number" minimum:"0" doc:"Version to revert to; 0 removes the tenant's own entry"`
		Note   string `json:"note,omitempty" maxLength:"1000" doc:"Reason for the change"`
	}
}

type catalogTryInput struct {
	Body struct {
		Change  catalog.Change        `json:"change"`
		Request cluster.CreateRequest `json:"request"`
	}
}

type catalogExportInput struct {
	All bool `query:"all" doc:"Include entries of the shared catalog"`
}

type catalogFileList struct {
	Files []catalog.File `json:"files" nullable:"false"`
}

func (p *Service) apiList(ctx context.Context, in *catalogListInput) (*site.Body[catalogItemList], error) {
	list, err := p.Catalogs.CatalogItems(ctx, site.Caller(ctx), in.Kind, in.Query)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalogItemList]{Body: catalogItemList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiShow(ctx context.Context, in *CatalogPath) (*site.Body[catalog.Source], error) {
	s, err := p.Catalogs.CatalogSource(ctx, site.Caller(ctx), in.key())
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalog.Source]{Body: s}, nil
}

func (p *Service) apiHistory(ctx context.Context, in *CatalogPath) (*site.Body[catalogRevisionList], error) {
	list, err := p.Catalogs.CatalogHistory(ctx, site.Caller(ctx), in.key())
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalogRevisionList]{Body: catalogRevisionList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiCheck(ctx context.Context, in *catalogChangeInput) (*site.Body[catalog.Report], error) {
	return p.catalogReport(ctx)(p.Catalogs.CheckCatalog(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) apiApply(ctx context.Context, in *catalogChangeInput) (*site.Body[catalog.Report], error) {
	return p.catalogReport(ctx)(p.Catalogs.ApplyCatalog(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) apiRevert(ctx context.Context, in *catalogRevertInput) (*site.Body[catalog.Report], error) {
	return p.catalogReport(ctx)(p.Catalogs.RevertCatalog(ctx, site.Caller(ctx), in.key(), in.Body.Number, in.Body.Note))
}

func (p *Service) catalogReport(ctx context.Context) func(catalog.Report, error) (*site.Body[catalog.Report], error) {
	return func(r catalog.Report, err error) (*site.Body[catalog.Report], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &site.Body[catalog.Report]{Body: r}, nil
	}
}

func (p *Service) apiTry(ctx context.Context, in *catalogTryInput) (*site.Body[cluster.Preview], error) {
	v, err := p.Trials.TryCatalog(ctx, site.Caller(ctx), in.Body.Change, in.Body.Request)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.Preview]{Body: v}, nil
}

func (p *Service) apiExport(ctx context.Context, in *catalogExportInput) (*site.Body[catalogFileList], error) {
	files, err := p.Catalogs.ExportCatalog(ctx, site.Caller(ctx), in.All)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalogFileList]{Body: catalogFileList{site.OrEmpty(files)}}, nil
}

func (p *Service) apiFamilies(ctx context.Context, _ *struct{}) (*site.Body[catalog.Families], error) {
	f, err := p.Catalogs.CatalogFamilies(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalog.Families]{Body: f}, nil
}
