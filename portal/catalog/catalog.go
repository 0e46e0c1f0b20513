package catalog

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/catalog"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/template"
)

// catalogKind is the kind in the path, which the route restricts.
func catalogKind(r *http.Request) string { return chi.URLParam(r, "kind") }

func catalogKey(r *http.Request) apptemplate.CatalogKey {
	return apptemplate.CatalogKey{Kind: catalogKind(r), Name: chi.URLParam(r, "name")}
}

// CatalogFrame is the frame of catalog pages, which have their own style sheet.
func (p *Service) CatalogFrame(r *http.Request, title string) page.Frame {
	f := p.AdminFrame(r, title)
	f.Styles = []string{"catalog.css", "plan.css"}
	return f
}

func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	l := List{Kind: catalogKind(r), Query: strings.TrimSpace(q.Get("q")), Own: q.Get("own") == "true", Now: p.Now(), Edit: a.May("ApplyCatalog"), Page: 1, Total: map[string]int{}}
	if len(l.Query) > 200 {
		l.Query = l.Query[:200]
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 1 && n < 1e6 {
		l.Page = n
	}
	items, err := p.Catalogs.CatalogItems(r.Context(), a, "", l.Query)
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.Own {
			l.Ours++
		}
		if !l.Own || i.Own {
			l.Total[i.Kind]++
		}
	}
	l.Items = slices.DeleteFunc(items, func(i catalog.Item) bool { return l.Own && !i.Own || l.Kind != "" && i.Kind != l.Kind })
	if l.Kind != "" {
		from := min((l.Page-1)*catalogPage, len(l.Items))
		to := min(from+catalogPage, len(l.Items))
		l.More = to < len(l.Items)
		l.Items = l.Items[from:to]
	}
	title := "Catalog"
	if l.Kind != "" {
		title = KindTitle(l.Kind)
	}
	p.Render(w, r, http.StatusOK, ListPage(p.CatalogFrame(r, title), l))
	return nil
}

// Show shows an entry. A removed entry still has its versions.
func (p *Service) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	k := catalogKey(r)
	if k.Name == "" {
		k.Name = "new" // the entry of that name, not the page for new entries
	}
	s := Show{Now: p.Now(), Edit: a.May("ApplyCatalog"), Saved: r.URL.Query().Has("saved")}
	var err error
	if s.Versions, err = p.Catalogs.CatalogHistory(r.Context(), a, k); err != nil && app.CodeOf(err) != app.ENotFound {
		return err
	}
	if s.Source, err = p.Catalogs.CatalogSource(r.Context(), a, k); err != nil {
		if app.CodeOf(err) != app.ENotFound || len(s.Versions) == 0 {
			return err
		}
		s.Deleted, s.Source.CatalogKey = true, k
	}
	if err := p.catalogFacts(r.Context(), a, &s); err != nil {
		return err
	}
	if s.From, s.To = template.VersionNumber(r, "from"), template.VersionNumber(r, "to"); s.To > 0 {
		before, after, ok := versionTexts(s.Versions, s.From, s.To)
		if !ok {
			return &app.Error{Code: app.ENotFound, Message: "This version doesn't exist."}
		}
		s.Diff = p.catalogDiff(before, after)
	}
	p.Render(w, r, http.StatusOK, ShowPage(p.CatalogFrame(r, k.Name), s))
	return nil
}

// catalogFacts makes the form whose values are shown.
func (p *Service) catalogFacts(ctx context.Context, a app.Actor, s *Show) error {
	if s.Deleted {
		return nil
	}
	tree, err := p.Texts.Tree(s.Source.Text)
	if err != nil {
		return nil //nolint:nilerr // the YAML is shown as it is
	}
	families, err := p.Catalogs.CatalogFamilies(ctx, a)
	if err != nil {
		return err
	}
	s.Form = newCatalogForm(s.Source.Kind, tree, p.schema.of(families.Schema, s.Source.Kind), families, nil, true)
	return nil
}

// versionTexts finds two versions; number 0 is nothing.
func versionTexts(all []catalog.Revision, from, to int) (before, after string, ok bool) {
	text := func(n int) (string, bool) {
		if n == 0 {
			return "", true
		}
		at := slices.IndexFunc(all, func(v catalog.Revision) bool { return v.Number == n })
		if at < 0 {
			return "", false
		}
		return all[at].Text, true
	}
	before, first := text(from)
	after, second := text(to)
	return before, after, first && second
}

// catalogDiff compares two texts by line, and by value where both can be read.
func (p *Service) catalogDiff(before, after string) *Diff {
	d := newDiff(before, after)
	was, err := p.Texts.Tree(before)
	if err != nil {
		return d
	}
	is, err := p.Texts.Tree(after)
	if err != nil {
		return d
	}
	old, now := map[string]string{}, map[string]string{}
	var order []string
	leavesOf(was, nil, func(place, value string) { old[place] = value; order = append(order, place) })
	leavesOf(is, nil, func(place, value string) {
		now[place] = value
		if _, had := old[place]; !had {
			order = append(order, place)
		}
	})
	for _, place := range order {
		if old[place] != now[place] && len(d.Fields) < 200 {
			d.Fields = append(d.Fields, catalog.FieldChange{Path: place, Before: old[place], After: now[place]})
		}
	}
	return d
}

// leavesOf walks all plain values; a list of plain values is one.
func leavesOf(n *catalog.Node, at []any, do func(place, value string)) {
	switch {
	case n.List && !slices.ContainsFunc(n.Items, func(x *catalog.Node) bool { return x.Map || x.List }):
		do(dotted(at), strings.Join(n.Names(), ", "))
	case n.Map || n.List:
		for i, x := range n.Items {
			var p any = i
			if n.Map {
				p = n.Keys[i]
			}
			leavesOf(x, append(slices.Clone(at), p), do)
		}
	default:
		do(dotted(at), n.Value)
	}
}
