package client

import (
	"context"
	"net/url"

	"muster/app/catalog"
	"muster/app/template"
)

// Templates lists the templates that one may use.
func (c *Client) Templates(ctx context.Context) ([]*template.Template, error) {
	var out struct {
		Templates []*template.Template `json:"templates"`
	}
	err := c.CallInto(ctx, "/templates", nil, &out)
	return out.Templates, err
}

// Template tells all that a template says.
func (c *Client) Template(ctx context.Context, name string) (v catalog.TemplateView, err error) {
	err = c.CallInto(ctx, "/templates/"+url.PathEscape(name), nil, &v)
	return v, err
}

// TemplateVersions lists the versions of a template, newest first.
func (c *Client) TemplateVersions(ctx context.Context, name string) ([]catalog.TemplateVersion, error) {
	var out struct {
		Versions []catalog.TemplateVersion `json:"versions"`
	}
	err := c.CallInto(ctx, "/templates/"+url.PathEscape(name)+"/versions", nil, &out)
	return out.Versions, err
}

// TemplateDiff tells how two versions of a template differ.
func (c *Client) TemplateDiff(ctx context.Context, name string, q url.Values) (d catalog.TemplateDiff, err error) {
	err = c.CallInto(ctx, "/templates/"+url.PathEscape(name)+"/changes", q, &d)
	return d, err
}
