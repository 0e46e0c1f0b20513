package client

import (
	"context"
	"net/url"

	"muster/app/catalog"
	"muster/app/template"
)

// Templates are the catalog's templates.
type Templates part

// List lists available templates.
func (c *Templates) List(ctx context.Context) ([]*template.Template, error) {
	var out struct {
		Templates []*template.Template `json:"templates"`
	}
	err := c.client.CallInto(ctx, "/templates", nil, &out)
	return out.Templates, err
}

// Get returns a template with all its parts.
func (c *Templates) Get(ctx context.Context, name string) (v catalog.TemplateView, err error) {
	err = c.client.CallInto(ctx, "/templates/"+url.PathEscape(name), nil, &v)
	return v, err
}

// Versions lists the versions of a template, newest first.
func (c *Templates) Versions(ctx context.Context, name string) ([]catalog.TemplateVersion, error) {
	var out struct {
		Versions []catalog.TemplateVersion `json:"versions"`
	}
	err := c.client.CallInto(ctx, "/templates/"+url.PathEscape(name)+"/versions", nil, &out)
	return out.Versions, err
}

// Diff compares two versions of a template.
func (c *Templates) Diff(ctx context.Context, name string, q url.Values) (d catalog.TemplateDiff, err error) {
	err = c.client.CallInto(ctx, "/templates/"+url.PathEscape(name)+"/changes", q, &d)
	return d, err
}
