package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/address"
	identitypage "muster/portal/identity"
)

func (w *userSite) link(external string) (path string, token url.Values) {
	w.t.Helper()
	at, err := w.app.Identity.Links.LinkStart(w.t.Context(), "slack", external, "Slack user "+external+" of workspace Acme")
	if err != nil {
		w.t.Fatal(err)
	}
	_, secret, _ := strings.Cut(at.Query, "token=")
	return address.Of(at), url.Values{"token": {secret}}
}

func (w *userSite) who(external string) string {
	w.t.Helper()
	a, err := w.app.Identity.Links.ActorOfIdentity(w.t.Context(), "slack", external)
	if app.CodeOf(err) == app.EUnauthorized {
		return ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Tenant + "/" + a.User
}

func TestLink(t *testing.T) {
	w := newUserSite(t)
	path, token := w.link("U123")
	a := w.get(path)
	if want := "/signin?next=" + url.QueryEscape(path); a.header.Get("Location") != want {
		t.Fatalf("a stranger is led to %q", a.header.Get("Location"))
	}
	a = w.post("/signin", url.Values{"user": {"ada"}, "password": {horse}, "next": {path}})
	if a.header.Get("Location") != path {
		t.Fatalf("the sign-in leads to %q", a.header.Get("Location"))
	}
	for range 3 { // looking, as browsers and chats do by themselves, changes nothing
		w.get(path).reads(http.StatusOK, "Link this identity?", "Slack user U123 of workspace Acme", "your account ada in default", "Link identity", "expires in 10 min")
	}
	if w.who("U123") != "" {
		t.Fatal("opening a link used it")
	}
	w.post("/link", token, "Sec-Fetch-Site", "cross-site").reads(http.StatusForbidden, "This request came from another site")
	if a := w.post("/link", token); a.header.Get("Location") != "/account#identities" {
		t.Fatalf("the confirmation answers %d: %s", a.status, a.text())
	}
	w.get("/account").reads(http.StatusOK, "Slack user U123 of workspace Acme linked to your account.", "Slack, linked")
	if w.who("U123") != "default/ada" {
		t.Errorf("the identity is that of %q", w.who("U123"))
	}
	w.get(path).reads(http.StatusConflict, "This link has already been used.")
	w.post("/link", token).reads(http.StatusConflict, "This link has already been used.")

	// The linked identity acts as the account, as it is now.
	off := true
	if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "ada", identity.UserChange{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	if who := w.who("U123"); who != "" {
		t.Errorf("a disabled user is %q in a chat", who)
	}
}

func TestLinksThatDoNotWork(t *testing.T) {
	w := newUserSite(t).enter("ada")
	const none = "This link is invalid."
	w.get("/link").reads(http.StatusNotFound, none)
	w.get("/link?token=forged").reads(http.StatusNotFound, none)
	w.post("/link", url.Values{"token": {"forged"}}).reads(http.StatusNotFound, none)
	w.post("/link", nil).reads(http.StatusNotFound, none)

	old, oldToken := w.link("U1")
	w.link("U1")
	w.get(old).reads(http.StatusNotFound, none)
	w.post("/link", oldToken).reads(http.StatusNotFound, none, "replaced by a newer one")

	late, lateToken := w.link("U2")
	w.clock.pass(identity.LinkLife)
	w.get(late).reads(http.StatusConflict, "This link has expired: links are valid for 10 min.")
	w.post("/link", lateToken).reads(http.StatusConflict, "This link has expired")
	if w.who("U2") != "" || w.who("U1") != "" {
		t.Error("an invalid link worked")
	}
}

func TestIdentitiesBelongToOneUser(t *testing.T) {
	ada := newUserSite(t).enter("ada")
	eve, zoe := ada.another().enter("eve"), ada.another().enter("zoe", "acme")
	_, token := ada.link("U1")
	ada.post("/link", token)

	again, token := ada.link("U1")
	eve.get(again).reads(http.StatusConflict, "Slack user U1 of workspace Acme is already linked to ada.")
	eve.post("/link", token).reads(http.StatusConflict, "is already linked to ada.")
	a := zoe.post("/link", token)
	a.reads(http.StatusConflict, "is already linked to an account in another tenant.")
	a.lacks("ada")
	if ada.who("U1") != "default/ada" {
		t.Errorf("the identity is that of %q now", ada.who("U1"))
	}
	ada.get(again).reads(http.StatusOK, "Link this identity?") // one's own may be linked again

	remove := url.Values{"kind": {"slack"}, "external": {"U1"}}
	for _, other := range []*userSite{eve, zoe} {
		other.post("/account/identities/remove", remove).reads(http.StatusNotFound, "This identity isn't linked.")
	}
	if err := ada.app.Identity.Links.RemoveIdentity(t.Context(), ada.as("eve"), "ada", "slack", "U1"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("eve removes an identity of ada: %v", err)
	}
	if a := ada.post("/account/identities/remove", remove); a.status != http.StatusSeeOther || ada.who("U1") != "" {
		t.Errorf("the removal answers %d, and the identity is that of %q", a.status, ada.who("U1"))
	}
	zoe.post("/link", token)
	if ada.who("U1") != "acme/zoe" {
		t.Errorf("an unlinked identity went to %q", ada.who("U1"))
	}
}

func TestIdentitiesDoNotOutliveAccounts(t *testing.T) {
	w := newUserSite(t).enter("eve")
	_, token := w.link("U9")
	w.post("/link", token)
	w.clock.pass(time.Minute)
	if err := w.app.Identity.Users.DeleteUser(t.Context(), w.as("root"), "eve", ""); err != nil {
		t.Fatal(err)
	}
	if w.in() || w.who("U9") != "" {
		t.Fatal("a deleted account has a session or an identity")
	}
	w.clock.pass(time.Minute)
	w.user(t, app.DefaultTenant, "eve", app.RoleAdmin, w.clock.now())
	if w.in() || w.who("U9") != "" {
		t.Error("a new account inherited a session or an identity from its namesake")
	}
}

func TestRiskyThingsAskAgain(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.clock.pass(app.FreshWithin + time.Second)
	path, token := w.link("U1")
	a := w.post("/link", token, "Referer", w.srv.URL+path)
	step := a.header.Get("Location")
	if a.status != http.StatusSeeOther || step != "/step-up?next="+url.QueryEscape(path) {
		t.Fatalf("%d to %q", a.status, step)
	}
	if a := w.post("/link", token, "Referer", "https://evil.example"+path); a.header.Get("Location") != "/step-up?next=%2F" {
		t.Errorf("a page elsewhere says where to go next: %q", a.header.Get("Location"))
	}
	f := w.get(step).fields()
	if f.Get("next") != path {
		t.Fatalf("the form remembers %q", f.Get("next"))
	}
	w.post("/step-up", url.Values{"next": {path}}).reads(http.StatusUnprocessableEntity, "Enter your password.")
	w.post("/step-up", url.Values{"next": {path}, "password": {"wrong"}}).reads(http.StatusUnauthorized, "Wrong password.")
	if w.who("U1") != "" {
		t.Fatal("it was linked without a proof")
	}
	if a := w.post("/step-up", url.Values{"next": {"//evil.example"}, "password": {horse}}); a.header.Get("Location") != "/" {
		t.Errorf("the proof leads to %q", a.header.Get("Location"))
	}
	w.clock.pass(app.FreshWithin)
	if a := w.post("/link", token); a.header.Get("Location") == "/account#identities" {
		t.Error("a link of 25 minutes ago is used") // it is too old by now
	}
	_, token = w.link("U1")
	if a := w.post("/link", token); a.header.Get("Location") != "/account#identities" {
		t.Errorf("with a proof of 15 minutes ago it answers %d to %q", a.status, a.header.Get("Location"))
	}
	for range identitypage.AttemptsPerUser {
		w.post("/step-up", url.Values{"password": {"wrong"}})
	}
	w.post("/step-up", url.Values{"password": {horse}}).reads(http.StatusTooManyRequests, "Too many attempts.")
}
