//go:build real

package main

import (
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/portal/portaltest"
)

// TestBrowserEveryPage opens every page that there is, with something on it, as a superadmin: none is too wide for a phone, and
// none says that it is not there.
func TestBrowserEveryPage(t *testing.T) {
	const password = "correct horse battery staple"
	f := newForeign(t)
	f.t = t
	site := httptest.NewServer(f.server.http.Handler)
	defer site.Close()
	u := app.User{Tenant: there, Name: "root", FullName: "Ada Root", Role: app.RoleAdmin, PasswordHash: app.HashPassword(password), CreatedAt: time.Now()}
	if err := f.server.store.CreateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	b := portaltest.Open(t, site.URL)
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details").open = true`))
	b.Do(chromedp.SetValue(chromedp.ID("tenant"), there), chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/clusters"`)
	seen := 0
	for _, r := range f.server.portal.Routes() {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/api/") || r.Pattern == "/signin" || r.Pattern == "/" ||
			slices.Contains([]string{"live", "key", "export"}, path.Base(r.Pattern)) {
			continue
		}
		address := f.first(r.Pattern)
		b.Open(address)
		text := b.Text("body")
		if strings.Contains(text, "internal error") {
			t.Errorf("%s: %.300s", address, text)
		}
		b.Shoot("page" + strings.ReplaceAll(strings.NewReplacer("{", "", "}", "").Replace(r.Pattern), "/", "-"))
		seen++
	}
	t.Logf("%d pages", seen)
}

// first fills a route with the first thing that there is of each kind.
func (f *foreign) first(pattern string) string {
	return parameter.ReplaceAllStringFunc(pattern, func(p string) string {
		noun, _, _ := strings.Cut(p, "/")
		if known := f.values[noun]; len(known) > 0 {
			return noun + "/" + known[0]
		}
		return noun + "/theirs"
	})
}
