package portal

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	portalsite "muster/portal/site"
	"muster/portal/static"

	"golang.org/x/net/html"
)

// pages are one of each page, in a state that shows most of it.
func pages(t *testing.T) (*testSite, map[string]seen) {
	s := signedIn(t, "ada")
	out := map[string]seen{"empty list": s.get("/clusters")}
	running := s.cluster(ada, "lake", "hadoop", 12)
	s.f.advance(running, 30)
	failed := s.cluster(ada, "shop", "web", 3)
	s.f.failStep(failed, "n1.create", "It has no room.", "no room")
	active := s.cluster(ada, "db", "single", 1)
	for s.f.advance(active, 9) {
	}
	for name, path := range map[string]string{
		"list": "/clusters", "new": "/clusters/new?size=9", "refused": "/clusters/new?size=99", "running": "/clusters/" + running,
		"failed": "/clusters/" + failed, "active": "/clusters/" + active, "delete": "/clusters/" + active + "/delete", "missing": "/nothing",
	} {
		out[name] = s.get(path)
	}
	s.post("/signout", nil)
	out["sign-in"] = s.get("/signin")
	return s, out
}

// TestPagesAreClean checks every page against the content security policy, assistive technology and plain HTML.
func TestPagesAreClean(t *testing.T) {
	_, all := pages(t)
	for name, a := range all {
		t.Run(name, func(t *testing.T) {
			wantClean(t, a)
		})
	}
}

// wantClean checks one page.
func wantClean(t *testing.T, a seen) {
	t.Helper()
	if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %q", csp)
	}
	for h, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if a.header.Get(h) != want {
			t.Errorf("%s is %q", h, a.header.Get(h))
		}
	}
	ids, refs, labelled := map[string]bool{}, []string{}, map[string]bool{}
	headings := 0
	for n := range a.tree().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "style" || n.Data == "script" && attr(n, "src") == "" {
			t.Errorf("there is an inline %s", n.Data)
		}
		if n.Data == "h1" {
			headings++
		}
		if n.Data == "label" && attr(n, "for") != "" {
			labelled[attr(n, "for")] = true
		}
		if n.Data == "img" && !has(n, "alt") {
			t.Error("a picture has no text alternative")
		}
		for _, at := range n.Attr {
			switch {
			case at.Key == "style", strings.HasPrefix(at.Key, "on"):
				t.Errorf("%s has an inline %s", n.Data, at.Key)
			case at.Key == "id" && ids[at.Val]:
				t.Errorf("the id %s is there twice", at.Val)
			case at.Key == "id":
				ids[at.Val] = true
			case at.Key == "aria-describedby" || at.Key == "data-copy":
				refs = append(refs, strings.Fields(at.Val)...)
			case at.Key == "src" || at.Key == "href" && n.Data == "link":
				if !strings.HasPrefix(at.Val, "/static/") {
					t.Errorf("%s is fetched from %s", n.Data, at.Val)
				}
			}
		}
	}
	for n := range a.tree().Descendants() {
		if (n.Data == "input" && attr(n, "type") != "hidden" || n.Data == "select") && !labelled[attr(n, "id")] && !insideLabel(n) && attr(n, "aria-label") == "" {
			t.Errorf("the %s %s has no label", n.Data, attr(n, "name"))
		}
	}
	for _, r := range refs {
		if !ids[r] {
			t.Errorf("nothing has the id %s", r)
		}
	}
	if headings != 1 {
		t.Errorf("there are %d first headings", headings)
	}
}

func insideLabel(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == "label" {
			return true
		}
	}
	return false
}

var source = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)

// The first page and its files are small when compressed.
func TestWeight(t *testing.T) {
	s, all := pages(t)
	for _, name := range []string{"sign-in", "list"} {
		total := len(all[name].body)
		for _, m := range source.FindAllStringSubmatch(all[name].body, -1) {
			a := s.get(m[1], "Accept-Encoding", "gzip")
			if a.status != http.StatusOK {
				t.Fatalf("%s answers %d", m[1], a.status)
			}
			total += len(a.body)
		}
		if total > 45_000 {
			t.Errorf("the page %s weighs %d bytes", name, total)
		}
	}
	css := s.get(static.URL("app.css"), "Accept-Encoding", "gzip")
	if css.header.Get("Content-Encoding") != "gzip" || len(css.body) > 15_000 {
		t.Errorf("the style sheet has %d bytes", len(css.body))
	}
	if css := s.get(static.URL("app.css"), "Accept-Encoding", "identity"); strings.Contains(css.body, "http") {
		t.Error("the style sheet fetches something")
	}
}

func TestStatic(t *testing.T) {
	s := visit(t)
	a := s.get(static.URL("live.js"), "Accept-Encoding", "gzip")
	if a.header.Get("Content-Encoding") != "gzip" || a.header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "text/javascript") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the script comes with %v", a.header)
	}
	if a := s.do(s.request("HEAD", "/signin", "")); a.status != http.StatusOK || a.body != "" {
		t.Errorf("HEAD answers %d", a.status)
	}
	if a := s.get("/static/live.000000000000.js"); a.status != http.StatusNotFound {
		t.Errorf("an old address answers %d", a.status)
	}
	if a := s.get("/static/../portal.go"); a.status == http.StatusOK {
		t.Error("files outside of the folder are served")
	}
}

// TestOtherSites checks that no other site can make a browser change anything.
func TestOtherSites(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		for _, path := range []string{"/signin", "/signout", "/clusters", "/clusters/" + id + "/delete", "/clusters/" + id + "/resume"} {
			a := s.post(path, url.Values{"user": {"ada"}}, headers...)
			a.reads(http.StatusForbidden, "This request came from another site and was blocked.")
		}
	}
	if v, _ := s.f.Cluster(context.Background(), ada, id); len(v.Operations) != 1 {
		t.Error("another site has deleted a cluster")
	}
	a := s.post("/api/v1/clusters", nil, "Sec-Fetch-Site", "cross-site", "Authorization", "Bearer token-of-ada")
	if a.status != http.StatusForbidden || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the API answers %d %s", a.status, a.header.Get("Content-Type"))
	}
	if a := s.post("/clusters/"+id+"/delete", nil, "Sec-Fetch-Site", "same-origin"); a.status != http.StatusSeeOther {
		t.Errorf("our own site is answered %d", a.status)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	s := signedIn(t, "ada")
	big := url.Values{"name": {strings.Repeat("x", portalsite.FormLimit)}}
	s.post("/clusters/preview", big).reads(http.StatusRequestEntityTooLarge, "Too large", "larger than 256 KiB")
	a := s.do(s.request("POST", "/api/v1/preview", `{"template":"`+strings.Repeat("x", portalsite.APILimit)+`"}`, "Authorization", "Bearer token-of-ada", "Content-Type", "application/json"))
	if a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, `"code":"too_large"`) {
		t.Errorf("the API answers %d: %.200s", a.status, a.body)
	}
}

// panicky is a fake Muster with a bug.
type panicky struct{ portalsite.Clusters }

func (panicky) ClusterPage(context.Context, app.Actor, app.ClusterFilter) (cluster.Page, error) {
	panic("a bug with password=hunter2")
}

func TestPanicAndAccessLog(t *testing.T) {
	var log bytes.Buffer
	p := New(Config{UseCases: useCases(newFake(newClock().now), panicky{}), Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	defer p.Close()
	r := httptest.NewRequest("GET", "/api/v1/clusters?name=secret", nil)
	r.Header.Set("Authorization", "Bearer token-of-ada")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"detail":"internal error"`) || strings.Contains(w.Body.String(), "hunter2") {
		t.Errorf("a panic answers %d: %s", w.Code, w.Body)
	}
	out := log.String()
	for _, want := range []string{`"msg":"panic"`, "hunter2", `"path":"/api/v1/clusters"`, `"user":"default/ada"`, `"method":"GET"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
	if strings.Contains(out, "secret") || strings.Contains(out, "token-of-ada") {
		t.Errorf("the log contains secrets:\n%s", out)
	}
}

func TestSandboxNote(t *testing.T) {
	s := visit(t, func(c *Config) { c.SandboxNote = "This is a <sandbox>." })
	s.get("/signin").reads(http.StatusOK, "This is a <sandbox>.", "Muster")
}
