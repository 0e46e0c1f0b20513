//go:build real

package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/identity"
	"muster/portal/portaltest"
)

// TestBrowserEveryPage opens every page that there is, with something on it, as a superadmin: none is too wide for a phone,
// none says that it is not there, and all can be used by everyone, as far as axe-core sees.
func TestBrowserEveryPage(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery staple"
	f := newForeign(t)
	f.t = t
	site := httptest.NewServer(f.server.HTTP.Handler)
	t.Cleanup(site.Close) // after the browser, whose live pages it would wait for
	u := identity.User{Tenant: there, Name: "root", FullName: "Ada Root", Role: app.RoleSuperadmin, PasswordHash: identity.HashPassword(password), CreatedAt: time.Now()}
	if err := f.server.Store.CreateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	b := portaltest.OpenFor(t, site.URL, 15*time.Minute) // some hundred pages, each four times
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details").open = true`))
	b.Do(chromedp.SetValue(chromedp.ID("tenant"), there), chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/clusters"`)
	seen := 0
	look := func(name, address string) {
		b.Open(address)
		if text := b.Text("body"); strings.Contains(text, "internal error") || b.Text(".problem .big") != "" {
			t.Errorf("%s: %.300s", address, text)
		}
		b.Shoot(name)
		seen++
	}
	id := f.atRest("standing", 3)
	for _, p := range f.everyPage(id) {
		if p.pattern == "/" {
			look("page-home", "/")
			continue
		}
		if strings.HasPrefix(p.pattern, "/signin/{provider}") {
			continue // there is none here
		}
		look("page"+strings.ReplaceAll(strings.NewReplacer("{", "", "}", "").Replace(p.pattern), "/", "-"), p.address)
	}
	// A cluster at rest can be changed: each kind of that has a page, with what it would do.
	b.Open("/clusters/" + id)
	b.Until(`document.querySelector("#change .stepper")`)
	b.Shoot("page-clusters-id-at-rest")
	for _, query := range []string{"resize&size=4", "resize&nodes=n3", "add_services", "remove_services", "reconfigure", "start", "stop", "restart&services=web", "upgrade", "repair", "repair&nodes=n1"} {
		look("page-clusters-id-change-"+strings.NewReplacer("&", "-", "=", "-").Replace(query), "/clusters/"+id+"/change?kind="+query)
	}
	t.Logf("%d pages", seen)
}
