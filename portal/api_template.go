package portal

import (
	"context"

	"muster/app"
	"muster/app/catalog"
)

type versionBody struct {
	Version string `json:"version"`
}

func (p *Portal) apiVersion(context.Context, *struct{}) (*body[versionBody], error) {
	return &body[versionBody]{versionBody{p.version}}, nil
}

type templateList struct {
	Templates []*app.Template `json:"templates" nullable:"false"`
}

func (p *Portal) apiTemplateList(ctx context.Context, _ *struct{}) (*body[templateList], error) {
	c, err := p.muster.Catalog(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := templateList{Templates: []*app.Template{}}
	for _, name := range names(c.Templates) {
		out.Templates = append(out.Templates, c.Templates[name])
	}
	return &body[templateList]{out}, nil
}

// Templating is a power that a Muster may have: to say all about templates, and to keep their versions.
type Templating interface {
	Template(ctx context.Context, a app.Actor, name string) (catalog.TemplateView, error)
	TemplateVersions(ctx context.Context, a app.Actor, name string) ([]catalog.TemplateVersion, error)
	// TemplateChanges compares two versions; to 0 is the newest, from 0 the one before to.
	TemplateChanges(ctx context.Context, a app.Actor, name string, from, to int) (catalog.TemplateDiff, error)
}

func (p *Portal) templating() Templating {
	t, _ := p.muster.(Templating)
	return t
}

// TemplateInput names a template; it is exported so that other inputs can hold it.
type TemplateInput struct {
	Name string `path:"name" maxLength:"255" doc:"The template's name"`
}

type templateDiffInput struct {
	TemplateInput
	From int `query:"from" minimum:"0" doc:"The number of a version; 0 is the one before the other"`
	To   int `query:"to" minimum:"0" doc:"The number of a version; 0 is the newest"`
}

type templateVersionList struct {
	Versions []catalog.TemplateVersion `json:"versions" nullable:"false"`
}

func (p *Portal) apiTemplateShow(ctx context.Context, in *TemplateInput) (*body[catalog.TemplateView], error) {
	v, err := p.templating().Template(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	v.Parts = orEmpty(v.Parts)
	return &body[catalog.TemplateView]{v}, nil
}

func (p *Portal) apiTemplateVersions(ctx context.Context, in *TemplateInput) (*body[templateVersionList], error) {
	list, err := p.templating().TemplateVersions(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[templateVersionList]{templateVersionList{orEmpty(list)}}, nil
}

func (p *Portal) apiTemplateDiff(ctx context.Context, in *templateDiffInput) (*body[catalog.TemplateDiff], error) {
	d, err := p.templating().TemplateChanges(ctx, caller(ctx), in.Name, in.From, in.To)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[catalog.TemplateDiff]{d}, nil
}
