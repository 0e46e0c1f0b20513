package site

import (
	"context"

	"muster/app"
	"muster/app/catalog"
)

// Templating is a power that a Muster may have: to say all about templates, and to keep their versions.
type Templating interface {
	Template(ctx context.Context, a app.Actor, name string) (catalog.TemplateView, error)
	TemplateVersions(ctx context.Context, a app.Actor, name string) ([]catalog.TemplateVersion, error)
	// TemplateChanges compares two versions; to 0 is the newest, from 0 the one before to.
	TemplateChanges(ctx context.Context, a app.Actor, name string, from, to int) (catalog.TemplateDiff, error)
}

func (p *Site) Templating() Templating {
	t, _ := p.Muster.(Templating)
	return t
}
