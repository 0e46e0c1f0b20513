package catalog

import (
	"context"

	"muster/app"
	"muster/app/template"
)

// TemplateView is a template as people look at it.
type TemplateView struct {
	template.Template
	Number   int             `json:"number,omitempty"` // of this version; 0: not known
	Warnings []string        `json:"warnings,omitempty"`
	Parts    []template.Part `json:"parts"`
}

// Template returns a template that the actor may see, or for admins a part of templates; ENotFound where there is none.
func (a *Service) Template(ctx context.Context, actor app.Actor, name string) (TemplateView, error) {
	if err := actor.Authorize("Template"); err != nil {
		return TemplateView{}, err
	}
	c, err := a.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return TemplateView{}, err
	}
	c = c.For(actor)
	t := c.Templates[name]
	if w := c.Written[name]; t == nil && w != nil && w.Partial && actor.SeesDrafts() {
		t = w
	}
	if t == nil {
		return TemplateView{}, c.NoTemplate(name)
	}
	v := TemplateView{Template: *t, Warnings: t.Warnings(), Parts: t.Parts()}
	if !actor.SeesDrafts() {
		for i := range v.Parts {
			v.Parts[i].At = "" // where it is written is of use to those who can change it
		}
	}
	kept, err := a.Versions.TemplateHistory(ctx, actor.Tenant, name, false)
	hash := t.Digest()
	for _, k := range kept {
		if k.Hash == hash && v.Number == 0 {
			v.Number = k.Number
		}
	}
	return v, err
}
