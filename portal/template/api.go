package template

import (
	"context"

	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/site"
)

type VersionBody struct {
	Version string `json:"version"`
}

func (p *Service) APIVersion(context.Context, *struct{}) (*site.Body[VersionBody], error) {
	return &site.Body[VersionBody]{Body: VersionBody{p.Version}}, nil
}

type TemplateList struct {
	Templates []*template.Template `json:"templates" nullable:"false"`
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[TemplateList], error) {
	c, err := p.Catalogs.Catalog(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := TemplateList{Templates: []*template.Template{}}
	for _, name := range site.Names(c.Templates) {
		out.Templates = append(out.Templates, c.Templates[name])
	}
	return &site.Body[TemplateList]{Body: out}, nil
}

// Input names a template; it is exported so that other inputs can hold it.
type Input struct {
	Name string `path:"name" maxLength:"255" doc:"Name of the template"`
}

type templateDiffInput struct {
	Input
	From int `query:"from" minimum:"0" doc:"Version number; 0: the version before to"`
	To   int `query:"to" minimum:"0" doc:"Version number; 0: the newest"`
}

type templateVersionList struct {
	Versions []catalog.TemplateVersion `json:"versions" nullable:"false"`
}

func (p *Service) apiShow(ctx context.Context, in *Input) (*site.Body[catalog.TemplateView], error) {
	v, err := p.Templates.Template(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Parts = site.OrEmpty(v.Parts)
	return &site.Body[catalog.TemplateView]{Body: v}, nil
}

func (p *Service) apiVersions(ctx context.Context, in *Input) (*site.Body[templateVersionList], error) {
	list, err := p.Templates.TemplateVersions(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[templateVersionList]{Body: templateVersionList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiDiff(ctx context.Context, in *templateDiffInput) (*site.Body[catalog.TemplateDiff], error) {
	d, err := p.Templates.TemplateChanges(ctx, site.Caller(ctx), in.Name, in.From, in.To)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[catalog.TemplateDiff]{Body: d}, nil
}
