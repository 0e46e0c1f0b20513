package portal

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"
	"muster/portal/cluster"
	templatepage "muster/portal/template"
)

// fakePrices is a fake with templates that also knows what they cost; where it is broken, it does not.
type fakePrices struct {
	withTemplates
	fails error
}

func (f fakePrices) TemplatePrices(context.Context, app.Actor) (map[string]float64, error) {
	return map[string]float64{"web": 0.24, "single": 0.5}, f.fails
}

func catalogSite(t *testing.T, fails error) *testSite {
	t.Helper()
	return visit(t, func(c *Config) {
		f := fakeOf(c)
		parametered(f)
		for _, h := range f.catalog.Hardware {
			h.Providers = map[string]template.Flavor{"sandbox": {}}
		}
		f.catalog.Images["debian12"].Providers = map[string]template.Image{"sandbox": {}, "ocean": {}}
		f.catalog.Images["ubuntu24"].Providers = map[string]template.Image{"sandbox": {}}
		f.catalog.Hardware["large"].Providers["ocean"] = template.Flavor{}
		f.catalog.Templates["web"].Compatibility.Hardware = []string{"small"}
		f.catalog.Templates["single"].Icon = "https://elsewhere.example/icon.png"
		c.UseCases = useCases(f, fakePrices{withTemplates{f, f}, fails})
	})
}

func TestTemplatesAreCards(t *testing.T) {
	s := catalogSite(t, nil)
	s.signIn("ada")
	a := s.get("/templates")
	a.reads(http.StatusOK, "3 templates", "One balancer before any number of web servers.", "HAProxy", "2 or more nodes", "from 0.24", "deprecated", "Providers Sandbox Create cluster")
	links := 0
	for d := range a.tree().Descendants() {
		if d.Data == "a" && attr(d, "href") == "/clusters/new?template=web" {
			links++
		}
	}
	if links != 1 {
		t.Errorf("%d links lead to the form", links)
	}
	if strings.Contains(a.body, "elsewhere.example") || strings.Count(a.body, `class="sigil `) != 3 {
		t.Error("a picture from elsewhere is asked for, or a sign is missing")
	}
	for _, c := range []struct {
		name, query string
		finds       []string
	}{
		{"a word of the label", "q=balancer", []string{"web"}},
		{"words in any order and case", "q=SERVERS+web", []string{"web"}},
		{"a name", "q=single", []string{"single"}},
		{"a description", "q=machine+of+its+own", []string{"single"}},
		{"a service by its label", "q=postgresql", []string{"web", "single"}},
		{"nothing", "q=kubernetes", nil},
		{"by service", "service=postgres", []string{"web", "single"}},
		{"by provider", "provider=ocean", []string{"single", "hadoop"}},
		{"all at once", "q=one&service=postgres&provider=ocean", []string{"single"}},
		{"a provider that is not there", "provider=moon", nil},
		{"odd characters", "q=" + url.QueryEscape(`<script>alert("1")</script>`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, part := range []bool{false, true} {
				var header []string
				if part {
					header = []string{"HX-Request", "true"}
				}
				a := s.get("/templates?"+c.query, header...)
				if part == strings.Contains(a.body, "<html") {
					t.Error("a part is a page, or a page a part")
				}
				got := 0
				for _, name := range []string{"web", "single", "hadoop"} {
					if strings.Contains(a.body, `href="/templates/`+name+`"><`) || strings.Contains(a.body, `<h2><a href="/templates/`+name+`"`) {
						got++
					}
				}
				if got != len(c.finds) {
					t.Errorf("%d are found, not %v", got, c.finds)
				}
				for _, name := range c.finds {
					if !strings.Contains(a.body, `<h2><a href="/templates/`+name+`"`) {
						t.Errorf("%s is not found", name)
					}
				}
				if len(c.finds) == 0 {
					a.reads(http.StatusOK, "No matching templates", "0 of 3 templates", "Show all")
				}
				if strings.Contains(a.body, "<script>alert") {
					t.Error("what was typed gets into the page as it is")
				}
			}
		})
	}
	if in := s.get("/templates?q=web&provider=moon").fields(); !slices.Contains(in["q"], "web") || in.Get("provider") != "moon" {
		t.Errorf("what was asked for is lost: %v", in)
	}
	s.signIn("vera")
	s.get("/templates").lacks("Create")
}

func TestTemplatesWithoutPrices(t *testing.T) {
	s := catalogSite(t, app.Errorf(app.ETimeout, "too slow"))
	s.signIn("ada")
	s.get("/templates").reads(http.StatusOK, "One database")
	s = signedIn(t, "ada")
	s.f.catalog = template.NewCatalog()
	in := cluster.NewClusterForm(s.f.catalog, url.Values{}, nil)
	if in.View.Template != nil {
		t.Error("there is a template where there is none")
	}
}

func TestSigilsDiffer(t *testing.T) {
	seen := map[templatepage.Sigil]int{}
	for _, name := range []string{"web", "hadoop", "single", "spark", "db", "kafka", "redis", "queue", "lamp", "mean"} {
		g := templatepage.SigilOf(name)
		if g != templatepage.SigilOf(name) {
			t.Fatal("the same name has two signs")
		}
		seen[g]++
	}
	if len(seen) < 8 {
		t.Errorf("ten names have %d signs", len(seen))
	}
}
