package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	apptemplate "muster/app/template"
)

// RecordCatalog keeps what a server has just published, as far as it was not kept before. It returns how many entries are new or
// have changed.
func (a *Service) RecordCatalog(ctx context.Context, server string) (int, error) {
	return a.Versions.RecordCatalog(ctx, a.Config.Catalog().Versions(server, a.Now()))
}

// TemplateVersion is a version of a template that someone looks at.
type TemplateVersion struct {
	apptemplate.CatalogVersion
	// Template is what it said. What is not published any more may be of a form that this version of Muster does not know whole.
	Template apptemplate.Template `json:"template"`
	// Current reports whether this version is the catalog's.
	Current bool `json:"current"`
}

// TemplateVersions returns all versions of a template, newest first: to all but admins those that were no drafts. ENotFound where
// there never was such a template.
func (a *Service) TemplateVersions(ctx context.Context, actor app.Actor, name string) ([]TemplateVersion, error) {
	if err := actor.Authorize("TemplateVersions"); err != nil {
		return nil, err
	}
	return a.templateVersions(ctx, actor, name)
}

func (a *Service) templateVersions(ctx context.Context, actor app.Actor, name string) ([]TemplateVersion, error) {
	c, err := a.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	kept, err := a.Versions.TemplateHistory(ctx, actor.Tenant, name, true)
	if err != nil {
		return nil, err
	}
	now := c.Templates[name]
	if now == nil {
		now = c.Written[name]
	}
	list := make([]TemplateVersion, 0, len(kept))
	for _, k := range kept {
		v := TemplateVersion{CatalogVersion: k}
		if err := json.Unmarshal([]byte(k.Text), &v.Template); err != nil {
			return nil, fmt.Errorf("version %d of template %s: %w", k.Number, name, err)
		}
		if v.Template.State == apptemplate.StateDraft && !actor.SeesDrafts() {
			continue
		}
		v.Current = now != nil && len(list) == 0 && now.Digest() == k.Hash
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, c.For(actor).NoTemplate(name)
	}
	return list, nil
}

// TemplateChanges tells how one version of a template differs from another, in order of path. To 0 is the newest, from 0 the one
// before to.
func (a *Service) TemplateChanges(ctx context.Context, actor app.Actor, name string, from, to int) (TemplateDiff, error) {
	if err := actor.Authorize("TemplateChanges"); err != nil {
		return TemplateDiff{}, err
	}
	all, err := a.templateVersions(ctx, actor, name)
	if err != nil {
		return TemplateDiff{}, err
	}
	if to == 0 {
		to = all[0].Number
	}
	if from == 0 {
		from = max(to-1, 1)
	}
	d := TemplateDiff{Name: name, From: from, To: to, Changes: []app.ValueChange{}}
	var texts [2]map[string]string
	for i, number := range []int{from, to} {
		at := slices.IndexFunc(all, func(v TemplateVersion) bool { return v.Number == number })
		if at < 0 {
			return d, &app.Error{Code: app.ENotFound, Field: []string{"from", "to"}[i], Message: fmt.Sprintf("Template %s has no version %d.", name, number),
				Hint: fmt.Sprintf("The newest is %d.", all[0].Number)}
		}
		if texts[i], err = apptemplate.Flatten(all[at].Text); err != nil {
			return d, err
		}
		apptemplate.InWords(texts[i], "")
	}
	paths := maps.Clone(texts[0])
	maps.Copy(paths, texts[1])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if before, after := texts[0][path], texts[1][path]; before != after {
			d.Changes = append(d.Changes, app.ValueChange{Path: path, Before: before, After: after})
		}
	}
	return d, nil
}

// TemplateDiff is how two versions of a template differ.
type TemplateDiff struct {
	Name    string            `json:"name"`
	From    int               `json:"from"`
	To      int               `json:"to"`
	Changes []app.ValueChange `json:"changes"`
}

// VersionUsed returns nil for clusters of which it is not known.
func (a *Service) VersionUsed(ctx context.Context, actor app.Actor, template, hash string) (*apptemplate.UsedVersion, error) {
	if hash == "" {
		return nil, nil
	}
	c, err := a.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	kept, err := a.Versions.TemplateHistory(ctx, actor.Tenant, template, false)
	if err != nil {
		return nil, err
	}
	m := &apptemplate.UsedVersion{}
	for _, k := range kept { // newest first: what came back has the number that it had last
		if k.Hash == hash && m.Number == 0 {
			m.Number = k.Number
		}
	}
	t := c.For(actor).Templates[template]
	if t == nil {
		m.Deleted = true
		return m, nil
	}
	now := t.Digest()
	m.Newer, m.Warnings = now != hash, t.Warnings()
	for _, k := range kept {
		if k.Hash == now && m.Latest == 0 {
			m.Latest = k.Number
		}
	}
	return m, nil
}
