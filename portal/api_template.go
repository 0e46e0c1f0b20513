package portal

import (
	"context"

	"muster/app"
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
