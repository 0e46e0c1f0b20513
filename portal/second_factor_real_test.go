//go:build real

package portal

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/app/apptest"
	"muster/portal/portaltest"
	"muster/portal/securitykey"
)

// TestSecurityKeyInABrowser adds a security key and an authenticator app, signs in with each, and re-authenticates with the key. The key is
// Chromium's virtual one, which signs as a real one does.
func TestSecurityKeyInABrowser(t *testing.T) {
	w := newUserSite(t, func(c *Config) { c.Keys = securitykey.Keys{} })
	b := portaltest.Open(t, strings.Replace(w.srv.URL, "127.0.0.1", "localhost", 1))
	b.Scheme(false)
	call := func(_ cdp.Empty, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	call(chromedp.Call(b.Ctx, webauthn.Enable, webauthn.EnableParams{}))
	made, err := chromedp.Call(b.Ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb, AutomaticPresenceSimulation: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	signIn := func() {
		t.Helper()
		b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), horse), chromedp.Submit(chromedp.ID("password")))
	}
	signOut := func() {
		t.Helper()
		b.Do(chromedp.Click(chromedp.CSS(".account-menu > summary")), chromedp.Click(chromedp.CSS(".who button")))
		b.Until(`location.pathname=="/signin"`)
	}
	b.Open("/signin?next=%2Faccount")
	signIn()
	b.Until(`location.pathname=="/account"`)
	b.Do(chromedp.Click(chromedp.CSS("#second-factor a")))
	b.Until(`document.querySelector("#create-key")`)
	b.Shoot("second-factor-none")
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "Key on my key ring"), chromedp.Click(chromedp.ID("create-key")))
	b.Until(`document.querySelector("#recovery-codes")`)
	b.Shoot("recovery-codes")
	codes := strings.Fields(b.Eval(`document.querySelector("#recovery-codes").textContent`))
	if len(codes) != 10 {
		t.Errorf("recovery codes: %q", codes)
	}

	// The browser refuses the same key again; an app can be added.
	b.Open("/account/second-factor")
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "The same"), chromedp.Click(chromedp.ID("create-key")))
	b.Until(`document.querySelector("#key-trouble").textContent.includes("added already")`)
	b.Open("/account/second-factor/app")
	b.Shoot("authenticator-app")
	secret := strings.ReplaceAll(b.Eval(`document.querySelector("#secret").textContent`), " ", "")
	b.Do(chromedp.SendKeys(chromedp.ID("code"), apptest.Code(secret, w.clock.now())), chromedp.Submit(chromedp.ID("code")))
	b.Until(`document.querySelectorAll("#factors li").length==2`)
	w.clock.pass(time.Minute)

	// With the key; a wrong signature is refused.
	signOut()
	b.Open("/signin?next=%2Faccount")
	signIn()
	b.Until(`document.querySelector("#use-key")&&!document.querySelector("#use-key").hidden`)
	b.Shoot("signin-second-factor")
	yes, no := true, false
	call(chromedp.Call(b.Ctx, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: made.AuthenticatorID, IsBogusSignature: &yes}))
	b.Do(chromedp.Click(chromedp.ID("use-key")))
	b.Until(`document.querySelector("#err-code").textContent.includes("wasn't accepted")`)
	b.Shoot("signin-second-factor-refused")
	call(chromedp.Call(b.Ctx, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: made.AuthenticatorID, IsBogusSignature: &no}))
	b.Do(chromedp.Click(chromedp.ID("use-key")))
	b.Until(`location.pathname=="/account"&&document.querySelector("#sign-ins").textContent.includes("signed in with password and security key")`)
	b.Shoot("account-second-factor")

	// Re-authentication with the key, for new recovery codes.
	w.clock.pass(app.FreshWithin + time.Minute)
	b.Open("/account/second-factor")
	b.Shoot("second-factor")
	b.Do(chromedp.Click(chromedp.CSS("#codes button")))
	b.Until(`location.pathname=="/step-up"&&document.querySelector("#use-key")`)
	b.Shoot("step-up-second-factor")
	b.Do(chromedp.SendKeys(chromedp.ID("password"), horse), chromedp.Click(chromedp.ID("use-key")))
	b.Until(`location.pathname=="/step-up/continue"`)
	b.Do(chromedp.Click(chromedp.CSS("main form .primary")))
	b.Until(`document.querySelector("#recovery-codes")`)
	codes = strings.Fields(b.Eval(`document.querySelector("#recovery-codes").textContent`))

	// With the app, and with a recovery code.
	for _, code := range []string{apptest.Code(secret, w.clock.now()), codes[0]} {
		signOut()
		b.Open("/signin?next=%2Faccount")
		signIn()
		b.Until(`document.querySelector("#code")`)
		b.Do(chromedp.SendKeys(chromedp.ID("code"), "000000"), chromedp.Click(chromedp.CSS("#pending [type=submit]")))
		b.Until(`document.querySelector("#err-code").textContent.includes("Invalid code")`)
		b.Do(chromedp.SendKeys(chromedp.ID("code"), code), chromedp.Click(chromedp.CSS("#pending [type=submit]")))
		b.Until(`location.pathname=="/account"`)
	}
}
