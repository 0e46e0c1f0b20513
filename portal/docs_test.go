package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"muster/portal/site"
)

func TestDocumentation(t *testing.T) {
	s := visit(t)
	s.get("/docs/terminals").lacks("Recordings")
	s.signIn("ada")
	for path, has := range map[string][]string{
		"/docs":                                {"Documentation", "Use clusters", "Terminals in the browser"},
		"/docs/terminals":                      {"Terminals in the browser", "On this page", "When the connection is lost"},
		"/docs/providers/aws":                  {"Amazon EC2"},
		"/docs/decisions":                      {"Decisions"},
		"/docs?q=recordings+of":                {"Results for “recordings of”", "Terminals in the browser › Recordings"},
		"/docs?q=zzzzq":                        {"No results for “zzzzq”"},
		"/docs?q=%3Cb%3E":                      {"<b>"},
		"/docs?q=" + strings.Repeat("a", 5000): {"No results for “" + strings.Repeat("a", 100) + "”"},
		"/docs?q=cluster":                      {"Best results for “cluster”. Add a word to narrow them down."},
	} {
		a := s.get(path)
		a.reads(http.StatusOK, has...)
		wantClean(t, a)
	}
	for _, path := range []string{"/docs/nosuch", "/docs/README", "/docs/terminals.md", "/docs/providers/nosuch", "/docs/..%2Fgo.mod"} {
		s.get(path).reads(http.StatusNotFound)
	}
}

// Each page has a link to its documentation, which leads to a page and a section of it.
func TestEachPageHasHelp(t *testing.T) {
	s := visit(t)
	s.signIn("ada")
	used, opened := map[string]bool{}, map[string]seen{}
	for _, x := range slices.Concat(s.p.pages(), s.p.catalogPages()) {
		to, key := site.HelpFor(x.Pattern)
		if used[key] = true; key == "" {
			t.Errorf("%s has no help: see portal/site/help.go", x.Pattern)
		}
		page, part, _ := strings.Cut(to, "#")
		a, ok := opened[page]
		if !ok {
			a = s.get(page)
			opened[page] = a
		}
		if a.status != http.StatusOK {
			t.Errorf("help of %s is at %s, which isn't a page", x.Pattern, to)
		}
		if part != "" && !strings.Contains(a.body, `id="`+part+`"`) {
			t.Errorf("help of %s is at %s, which has no such section", x.Pattern, to)
		}
	}
	for _, key := range site.HelpKeys() {
		if !used[key] {
			t.Errorf("there's help for %s, which isn't a page", key)
		}
	}
	id := s.cluster(ada, "lake", "hadoop", 3)
	for path, to := range map[string]string{"/clusters": "/docs/operations", "/clusters/" + id: "/docs/portal#cluster-pages",
		"/": "/docs", "/docs/life": "/docs", "/nosuch": "/docs"} {
		if a := s.get(path); !strings.Contains(a.body, `href="`+to+`" title="Help"`) && !strings.Contains(a.body, `href="`+to+`" aria-current title="Help"`) {
			t.Errorf("%s doesn't link to %s", path, to)
		}
	}
	if a := visit(t).get("/signin?" + url.Values{"next": {"/"}}.Encode()); strings.Contains(a.body, "/docs") {
		t.Error("people who aren't signed in see a link to the documentation")
	}
}
