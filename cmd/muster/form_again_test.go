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

// Every form of the admin pages, and of those of a cluster and an account, that people type into is posted with values that are wrong. Where it is refused, the answer is the form, with
// what was typed, what is wrong, and the status of a refusal; a page that says only what is wrong loses what was typed.
func TestRefusedFormsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	site := httptest.NewServer(f.server.http.Handler)
	defer site.Close()
	v := f.visitor(site.URL, here, app.RoleSuperadmin)
	send := func(method, path, from string, in url.Values) (int, string, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site.URL+path, strings.NewReader(in.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Referer", site.URL+from)
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("Content-Type"), b
	}
	pages := []string{"/admin/catalog/template/new", "/admin/catalog/provider/new"}
	for _, r := range f.server.portal.Routes() {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Pattern, "/admin/") && !strings.Contains(r.Pattern, "{") {
			pages = append(pages, r.Pattern)
		}
	}
	n := apptest.NewCluster(here, "typed", 1, time.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = time.Now().Add(time.Hour)
	(&scene{matrix: f.matrix, actor: v.actor, tenant: here, owner: v.actor.User, visibility: app.VisiblePrivate}).create(n)
	pages = append(pages, "/clusters/"+n.Cluster.ID, "/clusters/"+n.Cluster.ID+"/manage", "/account/tokens/new", "/account/password")
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
