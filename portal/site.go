package portal

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// Route is a route of the portal, with parameters in braces.
type Route struct{ Method, Pattern string }

// Routes is the site map, sorted by pattern, without files.
func (p *Portal) Routes() []Route {
	var all []Route
	_ = chi.Walk(p.handler.(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasSuffix(pattern, "*") {
			all = append(all, Route{method, pattern})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Route) int {
		return cmp.Or(cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Method, b.Method))
	})
	return all
}
