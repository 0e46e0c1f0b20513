package portal

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"
	"muster/app"
	"muster/app/cluster"
	"muster/app/file/catalog"
	"muster/app/file/spec"
	"muster/app/layout"
)

const hangs = 5 * time.Minute // reached only where something hangs

var (
	ada  = app.Actor{Tenant: app.DefaultTenant, User: "ada", Role: app.RoleUser}
	root = app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// eventually waits for something that another goroutine does.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(hangs); !done(); {
		if time.Now().After(end) {
			t.Fatal("it never happened")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// testSite is a portal on a port of this machine, with one visitor who keeps cookies and follows no redirect.
type testSite struct {
	t     *testing.T
	f     *fake
	p     *Portal
	srv   *httptest.Server
	http  *http.Client
	clock *clock
}

func visit(t *testing.T, change ...func(*Config)) *testSite {
	t.Helper()
	c := newClock()
	s := &testSite{t: t, f: newFake(c.now), clock: c}
	cfg := Config{UseCases: useCases(s.f), Texts: catalog.Texts{}, Rules: spec.RuleTexts{}, Version: "1.2.3", Logger: quiet(), Now: c.now}
	for _, f := range change {
		f(&cfg)
	}
	s.p = New(cfg)
	s.srv = httptest.NewServer(s.p)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.http = &http.Client{
		Jar: jar, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		_ = s.p.Close()
		s.http.CloseIdleConnections()
		s.srv.Close()
	})
	return s
}

// signedIn is a site whose visitor has signed in.
func signedIn(t *testing.T, user string) *testSite {
	t.Helper()
	s := visit(t)
	s.signIn(user)
	return s
}

func (s *testSite) signIn(user string) {
	s.t.Helper()
	if a := s.post("/signin", url.Values{"user": {user}, "password": {"correct horse"}}); a.status != http.StatusSeeOther {
		s.t.Fatalf("the sign-in of %s answers %d: %s", user, a.status, a.text())
	}
}

// seen is an answer, read to its end.
type seen struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (s *testSite) do(r *http.Request) seen {
	s.t.Helper()
	res, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen{s.t, res.StatusCode, res.Header, string(b)}
}

func (s *testSite) request(method, path, body string, headers ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.srv.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (s *testSite) get(path string, headers ...string) seen {
	s.t.Helper()
	return s.do(s.request("GET", path, "", headers...))
}

func (s *testSite) post(path string, form url.Values, headers ...string) seen {
	s.t.Helper()
	return s.do(s.request("POST", path, form.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...))
}

func (a seen) tree() *html.Node {
	a.t.Helper()
	n, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// text is what a reader finds on the page: all text with single spaces.
func (a seen) text() string {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		return a.body
	}
	return words(a.tree())
}

func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "title" && d.Parent.Data != "noscript" {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// reads checks that a reader finds all of these.
func (a seen) reads(status int, want ...string) {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("the status is %d, not %d", a.status, status)
	}
	text := a.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			a.t.Errorf("%q is not to be found in:\n%s", w, text)
		}
	}
}

// lacks checks that a reader finds none of these.
func (a seen) lacks(unwanted ...string) {
	a.t.Helper()
	text := a.text()
	for _, w := range unwanted {
		if strings.Contains(text, w) {
			a.t.Errorf("%q is in:\n%s", w, text)
		}
	}
}

// find returns the element with an id; nil where there is none.
func (a seen) find(id string) *html.Node {
	for d := range a.tree().Descendants() {
		if attr(d, "id") == id {
			return d
		}
	}
	return nil
}

// at is the text of the element with an id.
func (a seen) at(id string) string {
	a.t.Helper()
	n := a.find(id)
	if n == nil {
		a.t.Errorf("there is no element %s", id)
		return ""
	}
	return words(n)
}

// fields returns what the page's inputs and selects hold, by name, as a browser would send it.
func (a seen) fields() url.Values {
	v := url.Values{}
	for d := range a.tree().Descendants() {
		switch {
		case d.Data == "input" && (attr(d, "type") == "radio" || attr(d, "type") == "checkbox"):
			if has(d, "checked") {
				v.Add(attr(d, "name"), attr(d, "value"))
			}
		case d.Data == "input":
			v.Add(attr(d, "name"), attr(d, "value"))
		case d.Data == "option" && has(d, "selected"):
			v.Add(attr(d.Parent, "name"), attr(d, "value"))
		}
	}
	return v
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// cluster makes a cluster in the fake.
func (s *testSite) cluster(a app.Actor, name, template string, size int) string {
	s.t.Helper()
	v, err := s.f.CreateCluster(context.Background(), a, cluster.CreateRequest{Name: name, Request: layout.Request{Template: template, Size: size}})
	if err != nil {
		s.t.Fatal(err)
	}
	return v.ID
}

func newListener() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
