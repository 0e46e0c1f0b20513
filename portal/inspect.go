package portal

import (
	"net/http"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
)

var inspector atomic.Pointer[func(*huma.OpenAPI, http.Handler) http.Handler]

// InspectAPI lets tests see every answer of the portals that are created from now on, with the document that describes it: wrap gets a
// portal's handler and returns the one that is served. Nil ends it. Package apitest uses it.
func InspectAPI(wrap func(doc *huma.OpenAPI, next http.Handler) http.Handler) {
	if wrap == nil {
		inspector.Store(nil)
		return
	}
	inspector.Store(&wrap)
}

func inspected(doc *huma.OpenAPI, next http.Handler) http.Handler {
	if wrap := inspector.Load(); wrap != nil {
		return (*wrap)(doc, next)
	}
	return next
}
