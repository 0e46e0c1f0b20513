package portal

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestMethodNotAllowedListsMethods asks every address with every method that it does not have.
func TestMethodNotAllowedListsMethods(t *testing.T) {
	s := signedIn(t, "ada")
	by := map[string][]string{}
	for _, r := range s.p.Routes() {
		by[r.Pattern] = append(by[r.Pattern], r.Method)
	}
	asked := 0
	for pattern, methods := range by {
		if strings.Contains(pattern, ":") || strings.Contains(pattern, "*") { // a pattern that says which values it takes
			continue
		}
		path := strings.NewReplacer("{", "", "}", "").Replace(pattern)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := s.do(s.request(method, path, ""))
			if a.status == http.StatusNotFound || a.status != http.StatusMethodNotAllowed && slices.ContainsFunc(s.p.Routes(), func(r Route) bool {
				return r.Method == method && strings.Count(r.Pattern, "/") == strings.Count(pattern, "/") && r.Pattern != pattern
			}) {
				continue // another pattern takes it
			}
			asked++
			allow := strings.Split(a.header.Get("Allow"), ", ")
			for _, m := range methods {
				if a.status != http.StatusMethodNotAllowed || !slices.Contains(allow, m) {
					t.Errorf("%s %s is answered %d, Allow: %s", method, path, a.status, a.header.Get("Allow"))
				}
			}
			if kind := a.header.Get("Content-Type"); strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/hooks/") {
				if kind != "application/problem+json" {
					t.Errorf("%s %s is answered with %s", method, path, kind)
				}
			} else if !strings.HasPrefix(kind, "text/html") {
				t.Errorf("%s %s is answered with %s", method, path, kind)
			}
		}
	}
	if asked < 150 {
		t.Errorf("only %d were asked", asked)
	}
	for _, path := range []string{"/hooks/x/y", "/api/v2/clusters", "/api/v1/nothing"} {
		if a := s.get(path); a.status != http.StatusNotFound || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is answered %d with %s", path, a.status, a.header.Get("Content-Type"))
		}
	}
}
