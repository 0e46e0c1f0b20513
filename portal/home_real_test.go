//go:build real

package portal

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// TestBrowserHome looks at the home of someone new, of someone with much, and of an admin.
func TestBrowserHome(t *testing.T) {
	h := newHomely(newFake(time.Now))
	p := New(Config{UseCases: useCases(h), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	enter := func(user string) {
		b.Open("/signin")
		b.Do(chromedp.SendKeys(chromedp.ID("user"), user), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
		b.Until(`location.pathname=="/" && document.querySelector("h1").textContent.includes("` + user + `")`)
	}
	enter("ada")
	b.Shoot("home-new")
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	b.Open("/")
	b.Shoot("home")
	b.Do(chromedp.Click(chromedp.CSS(`#home-leases .button`)))
	b.Until(`location.pathname=="/clusters/c01" && location.hash=="#lease"`)
	b.Open("/")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("form[action='/signout']").submit()`))
	b.Until(`location.pathname=="/signin"`)
	enter("root")
	b.Until(`document.querySelector("#home-cost-tenant svg")`)
	b.Shoot("home-admin")
}
