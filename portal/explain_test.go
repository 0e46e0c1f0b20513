package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
	"muster/portal/site"
)

// explaining is a Muster that also says why. Seven nodes do not fit, of whatever template.
type explaining struct {
	site.Creates
	fails error
}

func (e explaining) Preview(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Preview, error) {
	switch {
	case len(r.Services) > 0 && r.Services[0] == "wbe":
		return cluster.Preview{}, &app.Error{Code: app.ENotFound, Reason: "missing_service", Message: "service wbe does not exist"}
	case r.Size == 7:
		return cluster.Preview{}, &app.Error{Code: app.ENoLayout, Reason: "no_solution", Message: "3 services can't be placed on 7 nodes."}
	}
	v, err := e.Creates.Preview(ctx, a, r)
	v.Layout.Notes = []string{"packed: as many nodes as possible run datanode and nodemanager, then as many as possible the next largest set", "namenode is on 1 node, the most allowed (max 1)"}
	for i := range v.Layout.Groups {
		v.Layout.Groups[i].Zone = "abc"[i : i+1]
	}
	return v, err
}

func (e explaining) SubmitRequest(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	if _, err := e.Preview(ctx, a, r); err != nil {
		return cluster.Answer{}, err
	}
	return e.Creates.SubmitRequest(ctx, a, r)
}

func (e explaining) Explain(_ context.Context, a app.Actor, r cluster.CreateRequest) (layout.Explanation, error) {
	if e.fails != nil {
		return layout.Explanation{}, e.fails
	}
	if r.Name == "long" {
		var x layout.Explanation
		for i := range 20 {
			x.Conflict = append(x.Conflict, layout.Clause{Text: fmt.Sprintf("clause %d.", i+1)})
		}
		return x, nil
	}
	if r.Size != 7 {
		return layout.Explanation{Problems: []*app.Error{
			{Code: app.ENotFound, Reason: "missing_service", Field: "services", Message: "There is no service wbe.", Hint: "Did you mean web?"},
			{Code: app.ENotFound, Reason: "missing_service", Field: "services", Message: "There is no service haproxi.", Hint: "Did you mean haproxy?"},
		}}, nil
	}
	written := func(at string) string { // only admins see where
		if a.Role == app.RoleAdmin || a.Role == app.RoleSuperadmin {
			return at
		}
		return ""
	}
	larger, other := r.Request, r.Request
	larger.Size = 8
	other.Services, other.Hardware, other.Prefer = []string{"datanode"}, "large", template.PreferCheapest
	return layout.Explanation{
		Conflict: []layout.Clause{
			{Kind: "size", Text: "The cluster has 7 nodes."},
			{Kind: "min", Text: "The template hadoop wants namenode on at least 2 nodes.", Services: []string{"namenode"}, Origin: written("catalog/hadoop.yaml:12")},
			{Kind: "cant_coexist", Text: "The template hadoop never puts namenode, datanode and nodemanager on one node.", Origin: written("catalog/hadoop.yaml:15")},
		},
		Minimal: true,
		Fixes: []layout.Fix{
			{Text: "8 nodes instead of 7", Request: &larger},
			{Text: "only datanode, on large hardware, at the least cost", Request: &other},
			{Text: "allow datanode beside namenode"},
		},
	}, nil
}

func explainingSite(t *testing.T, fails error) *testSite {
	t.Helper()
	return visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), explaining{fakeOf(c), fails}) })
}

// links returns the addresses of the links on a page, by their text.
func (a seen) links() map[string]string {
	out := map[string]string{}
	for d := range a.tree().Descendants() {
		if d.Data == "a" {
			out[words(d)] = attr(d, "href")
		}
	}
	return out
}

func TestWhyThereIsNoLayout(t *testing.T) {
	s := explainingSite(t, nil)
	s.signIn("ada")
	in := url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "name": {"lake"}, "size": {"7"}, "services": {"namenode", "datanode", "nodemanager"}, "lease": {(4 * time.Hour).String()}}
	a := s.post("/clusters/preview", in)
	a.reads(http.StatusUnprocessableEntity, "3 services can't be placed on 7 nodes.", "No layout fits", "Removing any one of them makes a layout possible",
		"The cluster has 7 nodes.", "The template hadoop wants namenode on at least 2 nodes.", "What would work", "8 nodes instead of 7", "allow datanode beside namenode in the template")
	a.lacks("hadoop.yaml", "No preview")

	t.Run("a fix is a link that fills in the form", func(t *testing.T) {
		fixed := s.get(a.links()["8 nodes instead of 7"])
		fixed.reads(http.StatusOK, "8 machines on Sandbox", "7 nodes n2–n8 · medium · Debian 12 · zone b", "namenode is on 1 node, the most allowed (max 1)")
		for key, want := range map[string]string{"size": "8", "template": "hadoop", "name": "lake", "lease": (4 * time.Hour).String(), "hardware": "", "prefer": "", "services": "datanode namenode nodemanager"} {
			if got := strings.Join(fixed.fields()[key], " "); got != want {
				t.Errorf("%s is %q, not %q", key, got, want)
			}
		}
	})
	t.Run("a fix may be about anything that can be chosen", func(t *testing.T) {
		link, err := url.Parse(a.links()["only datanode, on large hardware, at the least cost"])
		if err != nil {
			t.Fatal(err)
		}
		if q := link.Query(); strings.Join(q["services"], " ") != "datanode" || q.Get("hardware") != "large" || q.Get("prefer") != "cheapest" {
			t.Errorf("the link is %s", link)
		}
	})
	t.Run("one that needs another template is no link", func(t *testing.T) {
		for text := range a.links() {
			if strings.Contains(text, "allow datanode") {
				t.Errorf("%q is a link", text)
			}
		}
	})
	t.Run("while typing", func(t *testing.T) {
		s.post("/clusters/preview", in, "HX-Request", "true").reads(http.StatusOK, "No layout fits", "8 nodes instead of 7")
	})
	t.Run("after a creation", func(t *testing.T) {
		in := url.Values{"plan_hash": {"x"}}
		for k, v := range a.fields() {
			in[k] = v
		}
		s.post("/clusters", in).reads(http.StatusUnprocessableEntity, "No layout fits", "8 nodes instead of 7")
	})
	t.Run("all that is wrong with a request", func(t *testing.T) {
		a := s.post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"web"}, "size": {"3"}, "services": {"wbe", "haproxi"}})
		a.reads(http.StatusUnprocessableEntity, "2 problems to fix", "There is no service wbe. Did you mean web?", "There is no service haproxi. Did you mean haproxy?")
		a.lacks("What would work", "cannot hold together")
	})
	t.Run("what fits is not explained", func(t *testing.T) {
		s.get("/clusters/new?template=hadoop&size=8").lacks("No layout fits", "problems to fix", "fields to fix")
	})
	t.Run("an admin sees where it is written", func(t *testing.T) {
		s := explainingSite(t, nil)
		s.signIn("root")
		s.get("/clusters/new?template=hadoop&size=7").reads(http.StatusOK, "catalog/hadoop.yaml:15")
	})
	t.Run("many clauses are folded", func(t *testing.T) {
		long := url.Values{"template": {"hadoop"}, "size": {"7"}, "options_of": {"hadoop"}, "services": {"namenode"}, "name": {"long"}}
		a := s.post("/clusters/preview", long)
		a.reads(http.StatusUnprocessableEntity, "clause 1.", "clause 12.", "8 more clause 13.", "clause 20.")
	})
	t.Run("no time to explain", func(t *testing.T) {
		s := explainingSite(t, app.Errorf(app.ETimeout, "too slow"))
		s.signIn("ada")
		s.get("/clusters/new?template=hadoop&size=7").reads(http.StatusOK, "3 services can't be placed on 7 nodes.", "No preview. Fix the errors in the form.")
	})
}

func TestPreferenceInTheForm(t *testing.T) {
	s := signedIn(t, "ada")
	in := url.Values{"template": {"web"}, "options_of": {"web"}, "size": {"3"}, "services": {"haproxy", "web"}, "name": {"shop"}, "prefer": {"cheapest"}}
	a := s.post("/clusters/preview", in)
	a.reads(http.StatusOK, "3 machines")
	made := a.fields()
	if made.Get("prefer") != "cheapest" {
		t.Errorf("the preference is %q now", made.Get("prefer"))
	}
	s.post("/clusters", made)
	if got := s.f.asked; len(got) != 1 || got[0].Prefer != template.PreferCheapest {
		t.Errorf("asked was %+v", got)
	}
	in.Set("prefer", "prettiest")
	if got := s.post("/clusters/preview", in).at("err-prefer"); got != "Unknown placement. Choose one from the list." {
		t.Errorf("prefer has the error %q", got)
	}
}

func TestExplainOverREST(t *testing.T) {
	s := explainingSite(t, nil)
	x := as[layout.Explanation](s.call("POST", "/explain", `{"template":"hadoop","size":7}`), http.StatusOK)
	if !x.Minimal || len(x.Conflict) != 3 || len(x.Fixes) != 3 || x.Fixes[0].Request == nil || x.Fixes[0].Request.Size != 8 || x.Conflict[1].Origin != "" {
		t.Errorf("the explanation is %+v", x)
	}
	x = as[layout.Explanation](s.call("POST", "/explain", `{"template":"web","size":3}`), http.StatusOK)
	if len(x.Problems) != 2 || x.Problems[0].Reason != "missing_service" || x.Problems[0].Hint == "" {
		t.Errorf("the problems are %+v", x.Problems)
	}
	if a := explainingSite(t, app.Errorf(app.ETimeout, "It took too long.")).call("POST", "/explain", `{"template":"web","size":3}`); a.status != http.StatusGatewayTimeout {
		t.Errorf("too slow: %d", a.status)
	}
	if a := s.get("/api/v1/openapi.json"); !strings.Contains(a.body, `"/explain"`) || !strings.Contains(a.body, `"LayoutClause"`) {
		t.Error("it is not described")
	}
}

// fakeWarnings is an account that would refuse, and a layout that is dear.
type fakeWarnings struct{ site.Creates }

func (f fakeWarnings) Preview(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Preview, error) {
	v, err := f.Creates.Preview(ctx, a, r)
	v.Account = &cluster.AccountAnswer{Provider: "cloud", State: cluster.AccountChecking}
	v.Problems = []family.Finding{{About: family.AboutFlavor, Code: app.EInvalid, Message: "There is no size large.", Hint: "Sizes are small and same."}}
	v.Cheaper = &cluster.CheaperLayout{Prefer: template.PreferCheapest, CostPerHour: 0.17, CurrentCost: 4}
	return v, err
}

// TestThePreviewShowsWhatToFixAndWhatIsCheaper before anything is created, and asks again while the provider has not answered.
func TestThePreviewShowsWhatToFixAndWhatIsCheaper(t *testing.T) {
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), fakeWarnings{fakeOf(c)}) })
	s.signIn("ada")
	in := url.Values{"template": {"web"}, "options_of": {"web"}, "size": {"3"}, "services": {"haproxy", "web"}, "name": {"shop"}}
	a := s.post("/clusters/preview", in)
	a.reads(http.StatusOK, "1 problem to fix", "There is no size large. Sizes are small and same.", "Still checking what provider cloud would refuse.",
		"Choose cheapest to pay", "instead of")
	for _, want := range []string{`hx-trigger="load delay:2s"`, "prefer=cheapest"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
