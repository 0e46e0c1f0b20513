package portal

import (
	"cmp"
	"net/http"
	"strings"

	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Portal) sessionTrouble(w http.ResponseWriter, r *http.Request, err error) {
	p.ShowError(w, r, err)
}

func (p *Portal) notFound(http.ResponseWriter, *http.Request) error { return site.ErrNoSuchPage }

func (p *Portal) notAllowed(w http.ResponseWriter, r *http.Request) error {
	allow(w, r)
	return site.ErrNoSuchVerb
}

// allow sets the Allow header, which RFC 9110 requires with status 405.
func allow(w http.ResponseWriter, r *http.Request) {
	routes, path := chi.RouteContext(r.Context()).Routes, cmp.Or(r.URL.RawPath, r.URL.Path)
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if !routes.Match(chi.NewRouteContext(), m, path) {
			continue
		}
		if methods = append(methods, m); m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
}

// programsApart answers programs without pages and sessions.
func programsApart(programs, people http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if site.ForPrograms(r) {
			programs(w, r)
			return
		}
		people(w, r)
	}
}
