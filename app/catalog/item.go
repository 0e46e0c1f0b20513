package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

const (
	usedByNamed  = 100  // entries that refer to one, as far as they are named
	historyShown = 1000 // versions of an entry
)

// CatalogItems lists entries of the tenant's catalog; kind "" is all. Query narrows by name, label or description.
func (a *Service) CatalogItems(ctx context.Context, actor app.Actor, kind, query string) ([]Item, error) {
	if err := actor.Authorize("CatalogItems"); err != nil {
		return nil, err
	}
	if kind != "" {
		if err := (template.CatalogKey{Kind: kind}).CheckKind(); err != nil {
			return nil, err
		}
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(query))
	items := []Item{}
	for _, k := range v.keys() {
		if kind != "" && k.Kind != kind {
			continue
		}
		item := v.item(k)
		text := strings.ToLower(item.Name + " " + item.Label + " " + item.Description)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			items = append(items, item)
		}
	}
	return items, nil
}

// Source returns one entry with its text; ENotFound where there is none.
func (a *Service) CatalogSource(ctx context.Context, actor app.Actor, k template.CatalogKey) (Source, error) {
	if err := actor.Authorize("CatalogSource"); err != nil {
		return Source{}, err
	}
	if err := k.CheckKind(); err != nil {
		return Source{}, err
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return Source{}, err
	}
	if own, ok := v.own[k]; ok {
		return Source{Item: v.item(k), Text: own.Text, Revision: v.revisionText()}, nil
	}
	if !v.has(v.base, k) {
		var names []string
		for _, other := range v.keys() {
			if other.Kind == k.Kind {
				names = append(names, other.Name)
			}
		}
		e := &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("The catalog has no %s %.70q.", k.Kind, k.Name)}
		if near := humanize.Nearest(k.Name, names); near != "" {
			e.Hint = "Did you mean " + near + "?"
		}
		return Source{}, e
	}
	s := Source{Item: v.item(k), Origin: v.base.About(k).Origin.String(), Revision: v.revisionText()}
	if a.Reader != nil {
		s.Text, _ = a.Reader.Write(v.base, k)
	}
	return s, nil
}

// CatalogHistory returns versions of an own entry, newest first (none: empty).
func (a *Service) CatalogHistory(ctx context.Context, actor app.Actor, k template.CatalogKey) ([]Revision, error) {
	if err := actor.Authorize("CatalogHistory"); err != nil {
		return nil, err
	}
	if err := k.CheckKind(); err != nil {
		return nil, err
	}
	return a.Own.TenantCatalogHistory(ctx, actor.Tenant, k, historyShown)
}

// CatalogFamilies returns the descriptors for forms.
func (a *Service) CatalogFamilies(_ context.Context, actor app.Actor) (Families, error) {
	if err := actor.Authorize("CatalogFamilies"); err != nil {
		return Families{}, err
	}
	if a.Reader == nil {
		return Families{}, ErrNoTenantCatalog
	}
	return a.Reader.Families(), nil
}

// ExportCatalog returns own entries as files named kind/name.yaml; all: also the installation's.
func (a *Service) ExportCatalog(ctx context.Context, actor app.Actor, all bool) ([]File, error) {
	if err := actor.Authorize("ExportCatalog"); err != nil {
		return nil, err
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return nil, err
	}
	files := []File{}
	for _, k := range v.keys() {
		own, is := v.own[k]
		text := own.Text
		if !is {
			if !all || a.Reader == nil {
				continue
			}
			if text, is = a.Reader.Write(v.base, k); !is {
				continue
			}
		}
		files = append(files, File{Name: k.Kind + "/" + k.Name + ".yaml", Text: text})
	}
	return files, nil
}

var ErrNoTenantCatalog = &app.Error{Code: app.EInvalid, Reason: "no_own_catalog", Message: "Tenant catalogs are disabled in this installation."}

// catalogView is a tenant's catalog as its admins look at it.
type catalogView struct {
	base, catalog *template.Catalog
	own           map[template.CatalogKey]Revision
	revision      int64
	use           Use
	users         map[template.CatalogKey][]template.CatalogKey
}

func (a *Service) catalogView(ctx context.Context, actor app.Actor) (*catalogView, error) {
	v := &catalogView{base: a.Config.Catalog(), own: map[template.CatalogKey]Revision{}}
	list, revision, err := a.Own.TenantCatalog(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	v.revision = revision
	for _, r := range list {
		v.own[r.CatalogKey] = r
	}
	if v.catalog, err = a.CatalogOf(ctx, actor.Tenant); err != nil {
		return nil, err
	}
	v.use, err = a.Uses.CatalogUse(ctx, actor.Tenant)
	v.users = v.catalog.References()
	return v, err
}

func (v *catalogView) revisionText() string { return strconv.FormatInt(v.revision, 10) }

// keys are all entries, in the order in which people look at them; own ones that cannot be read among them.
func (v *catalogView) keys() []template.CatalogKey {
	all := map[template.CatalogKey]bool{}
	for k := range v.own {
		all[k] = true
	}
	for _, k := range v.catalog.Keys() {
		all[k] = true
	}
	return slices.SortedFunc(maps.Keys(all), template.CompareKeys)
}

func (v *catalogView) has(c *template.Catalog, k template.CatalogKey) bool { return c.Entry(k) != nil }

func (v *catalogView) item(k template.CatalogKey) Item {
	item := Item{CatalogKey: k}
	if about := v.catalog.About(k); about != nil {
		item.Label, item.Description = about.Label, about.Description
	}
	switch k.Kind {
	case template.KindTemplate:
		if t := v.catalog.Written[k.Name]; t != nil {
			item.State, item.Partial = t.State, t.Partial
		}
		item.Clusters = v.use.Templates[k.Name]
	case template.KindProvider:
		if p := v.catalog.Providers[k.Name]; p != nil {
			item.Type = p.Type
		}
		item.Clusters = v.use.Providers[k.Name]
	}
	if own, ok := v.own[k]; ok {
		item.Own, item.Number, item.At, item.By, item.Replaces = true, own.Number, own.At, own.By, v.has(v.base, k)
	}
	for _, user := range v.users[k] {
		if len(item.UsedBy) == usedByNamed {
			break
		}
		item.UsedBy = append(item.UsedBy, user.String())
	}
	return item
}

// Catalog returns what is published. Every signed-in person may read it; it shows no settings of providers, and drafts to admins only.
func (a *Service) Catalog(ctx context.Context, actor app.Actor) (*template.Catalog, error) {
	if err := actor.Authorize("Catalog"); err != nil {
		return nil, err
	}
	c, err := a.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	return c.For(actor), nil
}
