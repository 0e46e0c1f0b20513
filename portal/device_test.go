package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
)

// asks starts a program's sign-in.
func (w *userSite) asks() identity.DeviceCodes {
	w.t.Helper()
	c, err := w.app.Identity.Devices.StartDevice(w.t.Context(), "ada-laptop", "muster 1.0 on linux", "192.0.2.7", []app.Scope{app.ScopeCluster})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// reason is why a program gets no token; "" if it does.
func (w *userSite) reason(code string) string {
	w.t.Helper()
	_, _, err := w.app.Identity.Devices.PollDevice(w.t.Context(), code)
	if err == nil {
		return ""
	}
	return app.AsError(err).Reason
}

func TestDeviceIsApproved(t *testing.T) {
	w := newUserSite(t)
	c := w.asks()
	path := "/device?code=" + c.User
	if a := w.get(path); a.header.Get("Location") != "/signin?next="+url.QueryEscape(path) {
		t.Fatalf("a stranger is led to %q", a.header.Get("Location"))
	}
	w.enter("ada")
	wantClean(t, w.get("/device"))
	a := w.get("/device?code=" + strings.ToLower(strings.ReplaceAll(c.User, "-", "")))
	if a.status != http.StatusOK {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	wantClean(t, a)
	for _, want := range []string{"ada-laptop", "muster 1.0 on linux", "192.0.2.7", "act as ada in default"} {
		if !strings.Contains(strings.Join(strings.Fields(a.text()), " "), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// Opening the page signs nothing in.
	if got := w.reason(c.Device); got != "authorization_pending" {
		t.Errorf("before the answer: %q", got)
	}
	if got := w.reason(c.Device); got != "slow_down" {
		t.Errorf("at once again: %q", got)
	}
	w.clock.pass(identity.DeviceInterval)
	if got := w.reason(c.Device); got != "authorization_pending" {
		t.Errorf("later: %q", got)
	}
	a = w.post("/device", url.Values{"code": {c.User}, "answer": {"yes"}, "scopes": {"cluster"}})
	wantClean(t, a)
	if a.status != http.StatusOK || !strings.Contains(a.text(), "is signed in") {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	token, secret, err := w.app.Identity.Devices.PollDevice(t.Context(), c.Device)
	if err != nil || token.Label != "CLI on ada-laptop" || token.User != "ada" || token.ExpiresAt.IsZero() {
		t.Fatalf("%+v, %v", token, err)
	}
	actor, err := w.app.Identity.Tokens.ActorOfToken(t.Context(), secret, "192.0.2.7")
	if err != nil || actor.User != "ada" || !actor.May("Ask") || actor.May("Review") {
		t.Errorf("%+v, %v", actor, err)
	}
	if got := w.reason(c.Device); got != "expired_token" {
		t.Errorf("a second time: %q", got)
	}
	if a := w.get("/device?code=" + c.User); a.status != http.StatusNotFound {
		t.Errorf("the code is shown again: %d", a.status)
	}
	if !strings.Contains(w.get("/account").text(), "CLI on ada-laptop") {
		t.Error("the token is not on the account's page")
	}
	if _, err := w.app.Identity.Tokens.EndToken(t.Context(), actor); err != nil {
		t.Fatal(err)
	}
	if _, err := w.app.Identity.Tokens.ActorOfToken(t.Context(), secret, ""); app.CodeOf(err) != app.EUnauthorized {
		t.Errorf("the token holds after its end: %v", err)
	}
}

func TestDeviceIsDenied(t *testing.T) {
	w := newUserSite(t)
	w.enter("ada")
	denied, over := w.asks(), w.asks()
	if a := w.post("/device", url.Values{"code": {denied.User}, "answer": {"no"}}); !strings.Contains(a.text(), "Sign-in denied") {
		t.Errorf("%d: %s", a.status, a.text())
	}
	if got := w.reason(denied.Device); got != "access_denied" {
		t.Errorf("after a no: %q", got)
	}
	// Scopes beyond the user's role aren't granted.
	w.another().enter("vera")
	if a := w.post("/device", url.Values{"code": {over.User}, "answer": {"yes"}, "scopes": {"admin"}}); a.status != http.StatusForbidden {
		t.Errorf("a user grants the scope admin: %d", a.status)
	}
	// Allowing needs recent authentication.
	w.clock.pass(app.FreshWithin + time.Second)
	late := w.asks()
	if a := w.post("/device", url.Values{"code": {late.User}, "answer": {"yes"}}); !strings.HasPrefix(a.header.Get("Location"), "/step-up") {
		t.Errorf("a stale session: got %d to %q", a.status, a.header.Get("Location"))
	}
	if got := w.reason(over.Device); got != "expired_token" {
		t.Errorf("after its time: %q", got)
	}
	if a := w.get("/device?code=" + over.User); a.status != http.StatusNotFound {
		t.Errorf("expired code: got %d", a.status)
	}
	// Guessed codes are limited.
	status := 0
	for range 8 {
		status = w.get("/device?code=BBBBBBBB").status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("many wrong codes: got %d", status)
	}
}

func TestDevicesAreLimited(t *testing.T) {
	w := newUserSite(t)
	for range 20 {
		w.asks()
	}
	_, err := w.app.Identity.Devices.StartDevice(t.Context(), "h", "a", "192.0.2.7", nil)
	if app.CodeOf(err) != app.ERateLimit {
		t.Errorf("sign-ins of one address are unlimited: %v", err)
	}
	if _, err := w.app.Identity.Devices.StartDevice(t.Context(), "h", "a", "192.0.2.8", nil); err != nil {
		t.Errorf("blocked again after that: %v", err)
	}
	w.clock.pass(identity.DeviceLife)
	if _, err := w.app.Identity.Devices.StartDevice(t.Context(), "h", "a", "192.0.2.7", nil); err != nil {
		t.Errorf("expired sign-ins count: %v", err)
	}
}
