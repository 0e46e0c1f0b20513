//go:build real

package portal

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// TestSignInByProviderInABrowser signs in at an identity provider, opens the account, re-authenticates for a link, and signs out. A browser
// enforces the content security policy, unlike a client in Go.
func TestSignInByProviderInABrowser(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-ada", "admins", "devs")
	b := portaltest.Open(t, w.srv.URL)
	b.Scheme(false)
	there := func(user, password string) {
		t.Helper()
		b.Until(`location.origin==` + quoted(s.srv.URL) + `&&document.querySelector("#username")`)
		b.Do(chromedp.SendKeys(chromedp.ID("username"), user), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	}
	b.Open("/account")
	b.Until(`location.pathname=="/signin"&&document.querySelector(".elsewhere a")`)
	b.Shoot("signin-elsewhere")
	b.Do(chromedp.Click(chromedp.CSS(".elsewhere a")))
	there("ada", "lovelace")
	b.Until(`location.pathname=="/signin/tenant"&&document.querySelectorAll(".elsewhere form").length==2`)
	b.Shoot("signin-tenant")
	b.Do(chromedp.Click(chromedp.CSS(".elsewhere button")))
	b.Until(`location.pathname=="/account"&&document.querySelector("h1").textContent=="ada"`)

	path, _ := w.link("T024BE7LD/U2147483697")
	b.Open(path)
	b.Until(`document.querySelector("#who")`)
	b.Shoot("link")
	w.clock.t = w.clock.t.Add(1000e9)
	path, _ = w.link("T024BE7LD/U2147483697")
	b.Open(path)
	b.Do(chromedp.Click(chromedp.CSS(".ask .primary")))
	b.Until(`location.pathname=="/step-up"`)
	b.Shoot("step-up")
	w.clock.t = w.clock.t.Add(-1000e9)
	b.Do(chromedp.Click(chromedp.CSS(".ask a.primary")))
	there("ada", "lovelace")
	b.Until(`location.pathname=="/link"`)
	b.Do(chromedp.Click(chromedp.CSS(".ask .primary")))
	b.Until(`location.pathname=="/account"&&document.querySelector("#done")`)
	b.Open("/account/tokens/new")
	b.Shoot("token-new")
	b.Do(chromedp.SendKeys(chromedp.ID("label"), "nightly build"), chromedp.Submit(chromedp.ID("label")))
	b.Until(`document.querySelector("#token")`)
	b.Shoot("token-made")
	phone := w.another()
	phone.by(s, "/signin/sso", "ada")
	phone.post("/signin/tenant", url.Values{"tenant": {"acme"}})
	b.Open("/account")
	b.Shoot("account")
	b.Do(chromedp.Click(chromedp.CSS(".account-menu > summary")), chromedp.Click(chromedp.CSS(".who button")))
	b.Until(`location.pathname=="/signin"&&document.querySelector("#notice")`)
	b.Shoot("signed-out")
	b.Do(chromedp.Click(chromedp.CSS(`a[href$="/leave"]`)))
	b.Until(`location.pathname=="/signin"&&!document.querySelector("#notice")`)
}

// TestPasswordInABrowser changes a one-time password.
func TestPasswordInABrowser(t *testing.T) {
	w := newUserSite(t)
	secret, err := w.app.Identity.Users.ResetUserPassword(t.Context(), w.as("root"), "ada")
	if err != nil {
		t.Fatal(err)
	}
	b := portaltest.Open(t, w.srv.URL)
	b.Scheme(false)
	b.Open("/clusters/new")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), secret), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/account/password"`)
	b.Do(chromedp.SendKeys(chromedp.ID("old"), secret), chromedp.SendKeys(chromedp.ID("new"), "short"), chromedp.SendKeys(chromedp.ID("again"), "short"), chromedp.Submit(chromedp.ID("new")))
	b.Until(`document.querySelector("#err-new").textContent.includes("too short")`)
	b.Shoot("password")
	b.Do(chromedp.SendKeys(chromedp.ID("old"), secret), chromedp.SendKeys(chromedp.ID("new"), "four words of mine"), chromedp.SendKeys(chromedp.ID("again"), "four words of mine"),
		chromedp.Submit(chromedp.ID("new")))
	b.Until(`location.pathname=="/clusters/new"`)
	b.Open("/account")
	b.Shoot("account-local")
}

func quoted(s string) string { return `"` + s + `"` }
