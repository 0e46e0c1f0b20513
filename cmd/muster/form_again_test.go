package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/cmd/house"
)

// formSite is a server with a superadmin's browser, and the pages with forms.
type formSite struct {
	*testing.T
	url    string
	client *http.Client
	pages  []string
}

func newFormSite(t *testing.T) *formSite {
	t.Helper()
	f := newForeign(t)
	site := httptest.NewServer(f.server.http.Handler)
	t.Cleanup(site.Close)
	v := f.visitor(site.URL, here, app.RoleSuperadmin)
	s := &formSite{T: t, url: site.URL, client: v.client, pages: []string{"/admin/catalog/template/new", "/admin/catalog/provider/new"}}
	for _, r := range f.server.portal.Routes() {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Pattern, "/admin/") && !strings.Contains(r.Pattern, "{") {
			s.pages = append(s.pages, r.Pattern)
		}
	}
	n := apptest.NewCluster(here, "typed", 1, time.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = time.Now().Add(time.Hour)
	(&scene{matrix: f.matrix, actor: v.actor, tenant: here, owner: v.actor.User, visibility: app.VisiblePrivate}).create(n)
	s.pages = append(s.pages, "/clusters/"+n.Cluster.ID, "/clusters/"+n.Cluster.ID+"/manage", "/account/tokens/new", "/account/password")
	return s
}

func (s *formSite) send(method, path, from string, in url.Values) (int, string, []byte) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(in.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Referer", s.url+from)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), b
}

// typedInto are the types of fields that people type into.
var typedInto = []string{"", "text", "number", "search", "email", "url", "tel", "textarea", "datetime-local", "date"}

// TestFormsRefuseNonsenseInPlainWords: whatever stands in a field that people type into, in the new-cluster form as in all others, no answer
// names functions and types of Go. One field at a time is wrong, since only the first mistake may be told.
func TestFormsRefuseNonsenseInPlainWords(t *testing.T) {
	t.Parallel()
	s := newFormSite(t)
	asked, refused := 0, 0
	for _, from := range append(s.pages, "/clusters/new", "/usage", "/requests", "/search") {
		status, kind, body := s.send(http.MethodGet, from, from, nil)
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			continue
		}
		forms, err := house.Forms(from, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			if slices.ContainsFunc(form.Fields, func(f house.Field) bool { return f.Type == "file" }) {
				continue
			}
			for _, field := range form.Fields {
				if !slices.Contains(typedInto, field.Type) || field.Name == "" {
					continue
				}
				for _, nonsense := range []string{"wrong §", "99999999999999999999", "-1.5e400"} {
					in := url.Values{}
					for name, values := range form.Values {
						in[name] = values
					}
					in[field.Name] = []string{nonsense}
					path, sent := form.Action, in
					if form.Method == http.MethodGet {
						path, _, _ = strings.Cut(path, "?")
						path, sent = path+"?"+in.Encode(), nil
					}
					asked++
					status, _, answer := s.send(form.Method, path, from, sent)
					if status >= 400 {
						refused++
					}
					said := strings.Join(readable(string(answer)), "\n")
					if found := goish.FindString(said); found != "" || strings.Contains(said, "body.") || status >= 500 {
						t.Errorf("%s, %s %s with %s=%q is answered %d with %q:\n%s", from, form.Method, form.Action, field.Name, nonsense, status, found, said)
					}
				}
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d of %d answers are refusals", refused, asked)
	}
	t.Logf("%d forms sent, %d refused", asked, refused)
}

// Every form of the admin pages, and of those of a cluster and an account, that people type into is posted with values that are wrong. Where it is refused, the answer is the form, with
// what was typed, what is wrong, and the status of a refusal; a page that says only what is wrong loses what was typed.
func TestRefusedFormsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newFormSite(t)
	send, pages := s.send, s.pages
	const wrong = "§ wrong <&"
	text := []string{"", "text", "number", "search", "email", "url", "tel", "textarea"}
	posted := map[string]bool{}
	refused := 0
	for _, from := range pages {
		status, kind, body := send(http.MethodGet, from, from, nil)
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			continue
		}
		forms, err := house.Forms(from, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			var typed []string
			files := false
			for _, field := range form.Fields {
				files = files || field.Type == "file"
				if slices.Contains(text, field.Type) && field.Name != "" {
					typed = append(typed, field.Name)
				}
			}
			if form.Method != http.MethodPost || files || len(typed) == 0 || posted[from+form.Action] {
				continue
			}
			posted[from+form.Action] = true
			for _, name := range typed {
				form.Values[name] = []string{wrong}
			}
			for round := range 2 { // the second one comes from the answer to the first
				status, _, body = send(http.MethodPost, form.Action, map[int]string{0: from, 1: form.Action}[round], form.Values)
				if status < 400 {
					break
				}
				refused++
				again, err := house.Forms(from, body)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(again, func(g house.Form) bool {
					return g.Method == http.MethodPost && slices.ContainsFunc(g.Fields, func(x house.Field) bool { return x.Value == wrong })
				})
				if i < 0 {
					t.Errorf("%s: the form that posts to %s, with %q, is answered %d, without what was typed: %s", from, form.Action, typed, status, strings.Join(readable(string(body)), " | "))
					break
				}
				form.Values, form.Action = again[i].Values, again[i].Action
			}
		}
	}
	if refused < 10 {
		t.Errorf("only %d forms were refused, of %d", refused, len(posted))
	}
	t.Logf("%d forms on %d pages, %d refusals", len(posted), len(pages), refused)
}
