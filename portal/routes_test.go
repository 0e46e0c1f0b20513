package portal

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"

	"muster/portal/build"
	"muster/portal/site"
)

// No address is listed twice, since the router would forget the first silently, and each is answered in one way.
func TestRoutesAreListedOnce(t *testing.T) {
	p := visit(t).p
	seen := map[Route]bool{}
	note := func(method, pattern string) {
		if seen[Route{method, pattern}] {
			t.Errorf("%s %s is listed twice", method, pattern)
		}
		seen[Route{method, pattern}] = true
	}
	for _, x := range slices.Concat(p.pages(), p.catalogPages(), build.CallRoutes(p.build)) {
		note(x.Method, x.Pattern)
		ways := 0
		for _, there := range []bool{x.Member != nil, x.Page != nil, x.Plain != nil} {
			if there {
				ways++
			}
		}
		if ways != 1 || x.Member == nil && x.Who != site.Members {
			t.Errorf("%s %s is answered in %d ways, for %d", x.Method, x.Pattern, ways, x.Who)
		}
	}
	for _, o := range p.operations() {
		note(o.Method, site.APIPath+o.Path)
	}
	for _, r := range p.Routes() {
		delete(seen, r)
	}
	for r := range seen {
		t.Errorf("%s %s is listed and not served", r.Method, r.Pattern)
	}
}

// A portal without a use case does not begin.
func TestAPortalHasAllUseCases(t *testing.T) {
	all := useCases(newFake(nil))
	all.Check()
	for i := range reflect.TypeFor[site.UseCases]().NumField() {
		lacks := all
		reflect.ValueOf(&lacks).Elem().Field(i).SetZero()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a portal begins without %s: see Check in portal/site/use_cases.go", reflect.TypeFor[site.UseCases]().Field(i).Name)
				}
			}()
			New(Config{UseCases: lacks})
		}()
	}
}

// Where a binary has no security keys, or an installation no identity providers, their addresses say so.
func TestNotFound(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.post("/account/second-factor/key", url.Values{"name": {"k"}, "key": {"{}"}}).reads(http.StatusNotFound)
	for _, path := range []string{"/signin/corp", "/signin/corp/callback?state=x", "/signin/corp/leave"} {
		w.get(path).reads(http.StatusNotFound)
	}
}
