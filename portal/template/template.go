package template

import (
	"net/http"
	"strconv"

	"muster/app"

	"github.com/go-chi/chi/v5"
)

// Show shows a template. With version numbers from and to it compares these; otherwise the newest with the one before.
func (p *Service) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name, t := chi.URLParam(r, "template"), p.Templates
	versions, err := t.TemplateVersions(r.Context(), a, name)
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return err
	}
	v := Show{Now: p.Now(), Name: name, Versions: versions}
	switch view, gone := t.Template(r.Context(), a, name); {
	case gone == nil:
		v.View = &view
	case app.CodeOf(gone) != app.ENotFound || len(versions) == 0:
		return gone
	}
	from, to := VersionNumber(r, "from"), VersionNumber(r, "to")
	if len(versions) > 1 || from > 0 || to > 0 {
		d, err := t.TemplateChanges(r.Context(), a, name, from, to)
		if err != nil {
			return err
		}
		v.Diff = &d
	}
	f := p.Frame(r, name)
	f.At = "templates"
	p.Render(w, r, http.StatusOK, ShowPage(f, v))
	return nil
}

// VersionNumber parses a version number in a query; 0 for anything else.
func VersionNumber(r *http.Request, key string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(key))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
