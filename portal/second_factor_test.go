package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	identitypage "muster/portal/identity"
)

// withApp sets up an authenticator app for the signed-in user.
func (w *userSite) withApp() (secret string, codes []string) {
	w.t.Helper()
	secret, a := w.addApp()
	return secret, regexp.MustCompile(`[a-z2-7]{4}(?:-[a-z2-7]{4}){3}`).FindAllString(a.body, -1)
}

func (w *userSite) addApp() (secret string, a seen) {
	w.t.Helper()
	a = w.get("/account/second-factor/app")
	a.reads(http.StatusOK, "Set up authenticator app")
	secret = strings.ReplaceAll(a.at("secret"), " ", "")
	if !strings.Contains(a.body, "<svg class=\"qr\"") {
		w.t.Error("no QR code")
	}
	a = w.post("/account/second-factor/app", url.Values{"code": {apptest.Code(secret, w.clock.now())}})
	a.reads(http.StatusOK, "Recovery codes", "won't see them again")
	return secret, a
}

// begin enters the password of a user with a second factor.
func (w *userSite) begin(user, next string) {
	w.t.Helper()
	a := w.post("/signin", url.Values{"user": {user}, "password": {horse}, "next": {next}})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != identitypage.PendingPath {
		w.t.Fatalf("after the password: %d to %q", a.status, a.header.Get("Location"))
	}
}

func (w *userSite) code(code string) seen {
	w.t.Helper()
	return w.post(identitypage.PendingPath, url.Values{"code": {code}})
}

func TestSignInWithASecondFactor(t *testing.T) {
	w := newUserSite(t).enter("ada")
	secret, codes := w.withApp()
	if len(codes) != 10 {
		t.Fatalf("%d recovery codes", len(codes))
	}
	w.get("/account").reads(http.StatusOK, "Second factor", "Authenticator app", "Manage")
	w.get("/account/second-factor").reads(http.StatusOK, "Authenticator app", "never used to sign in", "10 recovery codes left")
	w.clock.pass(time.Minute)

	b := w.another()
	if a := b.get(identitypage.PendingPath); a.header.Get("Location") != "/signin" {
		t.Errorf("without a password: %d to %q", a.status, a.header.Get("Location"))
	}
	if a := b.code(apptest.Code(secret, w.clock.now())); a.header.Get("Location") != "/signin" {
		t.Errorf("a code without a password: %d to %q", a.status, a.header.Get("Location"))
	}
	b.begin("ada", "/clusters/new")
	if b.in() {
		t.Fatal("the password alone signs in")
	}
	b.get(identitypage.PendingPath).reads(http.StatusOK, "Second factor", "Signing in as ada", "Code from your authenticator app, or recovery code")
	b.code("").reads(http.StatusUnauthorized, "A second factor is required.")
	b.code("000000").reads(http.StatusUnauthorized, "Invalid code.")
	if b.in() {
		t.Fatal("a wrong code signs in")
	}
	if a := b.code(apptest.Code(secret, w.clock.now())); a.header.Get("Location") != "/clusters/new" || !b.in() {
		t.Fatalf("the right code: %d to %q", a.status, a.header.Get("Location"))
	}
	b.get("/account").reads(http.StatusOK, "with password and authenticator app")

	c := w.another()
	c.begin("ada", "/")
	c.code(apptest.Code(secret, w.clock.now())).reads(http.StatusUnauthorized, "This code has already been used.")
	if a := c.code(strings.ToUpper(codes[0])); a.status != http.StatusSeeOther || !c.in() {
		t.Errorf("a recovery code: %d", a.status)
	}
	d := w.another()
	d.begin("ada", "/")
	d.code(codes[0]).reads(http.StatusUnauthorized, "Invalid code.")
	d.clock.pass(identity.PendingSignIn)
	if a := d.get(identitypage.PendingPath); a.header.Get("Location") != "/signin?next=%2F" {
		t.Errorf("after five minutes: %d to %q", a.status, a.header.Get("Location"))
	}
	d.get("/signin").reads(http.StatusOK, "Enter your password again.")
}

// Someone with the password tries codes: they count as attempts like passwords, and the right password doesn't reset them.
func TestCodesAreLimitedAsPasswordsAre(t *testing.T) {
	w := newUserSite(t).enter("ada")
	secret, _ := w.withApp()
	w.clock.pass(time.Minute)
	b := w.another()
	b.begin("ada", "/")
	for range identitypage.AttemptsPerUser - 1 {
		b.code("000000").reads(http.StatusUnauthorized)
	}
	b.begin("ada", "/") // the right password once more
	b.code("000000").reads(http.StatusUnauthorized)
	a := b.code(apptest.Code(secret, w.clock.now()))
	a.reads(http.StatusTooManyRequests, "Too many attempts.")
	if a.header.Get("Retry-After") == "" || b.in() {
		t.Error("the limit doesn't hold")
	}
	b.post("/signin", url.Values{"user": {"ada"}, "password": {horse}}).reads(http.StatusTooManyRequests)
	b.clock.pass(identitypage.AttemptsWindow)
	b.begin("ada", "/")
	if a := b.code(apptest.Code(secret, w.clock.now())); a.status != http.StatusSeeOther {
		t.Errorf("after the wait: %d", a.status)
	}
}

// The session's token changes after the password and after the second factor, against session fixation.
func TestPendingSignInsAreOfOneBrowser(t *testing.T) {
	w := newUserSite(t).enter("ada")
	secret, _ := w.withApp()
	w.clock.pass(time.Minute)
	b := w.another()
	here, _ := url.Parse(w.srv.URL)
	token := func() string {
		if c := b.http.Jar.Cookies(here); len(c) > 0 {
			return c[0].Value
		}
		return ""
	}
	b.begin("ada", "/")
	first := token()
	if a := w.another().code(apptest.Code(secret, w.clock.now())); a.header.Get("Location") != "/signin" {
		t.Errorf("another browser continues: %d to %q", a.status, a.header.Get("Location"))
	}
	b.code(apptest.Code(secret, w.clock.now()))
	if second := token(); first == "" || second == first || !b.in() {
		t.Error("the token is the same after the second factor")
	}
	if a := b.get(identitypage.PendingPath); a.header.Get("Location") != "/signin" {
		t.Errorf("a sign-in is still pending: %d", a.status)
	}
}

func TestStepUpTakesTheSecondFactor(t *testing.T) {
	w := newUserSite(t).enter("ada")
	secret, _ := w.withApp()
	w.clock.pass(app.FreshWithin + time.Minute)
	a := w.post("/account/second-factor/codes", nil, "Referer", w.srv.URL+"/account/second-factor")
	if a.header.Get("Location") != "/step-up?next=%2Faccount%2Fsecond-factor" {
		t.Fatalf("without a proof: %d to %q", a.status, a.header.Get("Location"))
	}
	w.get("/step-up?next=/account").reads(http.StatusOK, "Password", "Code from your authenticator app")
	w.post("/step-up", url.Values{"password": {horse}, "next": {"/account"}}).reads(http.StatusUnauthorized, "A second factor is required.")
	w.post("/step-up", url.Values{"password": {"wrong"}, "code": {apptest.Code(secret, w.clock.now())}}).reads(http.StatusUnauthorized, "Wrong password.")
	a = w.post("/step-up", url.Values{"password": {horse}, "code": {"000000"}})
	a.reads(http.StatusUnauthorized)
	if a.at("err-code") == "" || a.at("err-password") != "" {
		t.Error("the error is not beside the code")
	}
	if a = w.post("/step-up", url.Values{"password": {horse}, "code": {apptest.Code(secret, w.clock.now())}, "next": {"/account"}}); a.header.Get("Location") != "/account" {
		t.Errorf("with both: %d to %q", a.status, a.header.Get("Location"))
	}
	w.post("/account/second-factor/codes", nil).reads(http.StatusOK, "Your old codes no longer work.")
	have, err := w.app.Identity.Factors.SecondFactors(t.Context(), w.as("ada"))
	if err != nil || len(have.Factors) != 1 {
		t.Fatal(have, err)
	}
	if a := w.post("/account/second-factor/remove", url.Values{"id": {have.Factors[0].ID}}); a.status != http.StatusSeeOther {
		t.Errorf("a removal: %d", a.status)
	}
	w.get("/account/second-factor").reads(http.StatusOK, "Second factor removed.", "Set up app")
	w.another().enter("ada")
}

// In a tenant that requires a second factor, people can only add one.
func TestARequiredSecondFactorComesFirst(t *testing.T) {
	w := newUserSite(t).enter("ada")
	r := w.another().enter("root")
	if a := r.post("/admin/users/second-factor", url.Values{"required": {"yes"}}); a.header.Get("Location") != "/admin/users" {
		t.Fatalf("%d to %q: %s", a.status, a.header.Get("Location"), a.text())
	}
	for _, path := range []string{"/", "/clusters/new", "/account", "/device", "/link?token=x", "/account/tokens/new"} {
		if a := w.get(path); a.status != http.StatusSeeOther || a.header.Get("Location") != identitypage.FactorsPath {
			t.Errorf("%s leads to %d, %q", path, a.status, a.header.Get("Location"))
		}
	}
	w.get(identitypage.FactorsPath).reads(http.StatusOK, "Your tenant requires a second factor.")
	w.clock.pass(app.FreshWithin + time.Minute)
	if a := w.get(identitypage.FactorsPath + "/app"); a.header.Get("Location") != "/step-up?next=%2Faccount%2Fsecond-factor%2Fapp" {
		t.Errorf("%d to %q", a.status, a.header.Get("Location"))
	}
	if a := w.post("/step-up", url.Values{"password": {horse}, "next": {identitypage.FactorsPath + "/app"}}); a.header.Get("Location") != identitypage.FactorsPath+"/app" {
		t.Errorf("the proof: %d to %q", a.status, a.header.Get("Location"))
	}
	w.get("/link?token=y")
	if _, a := w.addApp(); !strings.Contains(a.body, `href="/link?token=y"`) {
		t.Errorf("the codes don't lead to the page wanted before: %s", a.body)
	}
	w.get("/").reads(http.StatusOK)
}

func TestAdminsRemoveLostSecondFactors(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.withApp()
	r := w.another().enter("abe")
	r.get("/admin/users/eve").lacks("Remove second factors")
	r.get("/admin/users/ada").reads(http.StatusOK, "Remove second factors")
	if a := w.post("/admin/users/eve/reset-second-factor", nil); a.status != http.StatusForbidden {
		t.Errorf("a user may: %d", a.status)
	}
	if a := r.post("/admin/users/ada/reset-second-factor", nil); a.header.Get("Location") != "/admin/users/ada" {
		t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
	}
	if w.in() {
		t.Error("a sign-in with the lost factor continues")
	}
	w.another().enter("ada")
}
