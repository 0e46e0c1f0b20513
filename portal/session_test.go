package portal

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/identity"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/cmd/muster/wiring/faces"
	"muster/portal/address"
	identitypage "muster/portal/identity"
	portalsite "muster/portal/site"

	"golang.org/x/net/html"
)

const horse = "correct horse battery"

// userSite is a site with real use cases, a database and users.
type userSite struct {
	*testSite
	app   *appall.Services
	store *store.Store
}

func newUserSite(t *testing.T, change ...func(*Config)) *userSite {
	t.Helper()
	s := storetest.Open(t)
	c := newClock()
	w := &userSite{store: s, app: appall.New(appall.Config{Store: s, Catalog: template.NewCatalog, Now: c.now})}
	for name, role := range map[string]app.Role{"ada": app.RoleUser, "root": app.RoleSuperadmin, "vera": app.RoleViewer, "eve": app.RoleUser, "abe": app.RoleAdmin} {
		w.user(t, app.DefaultTenant, name, role, c.now())
	}
	w.user(t, "acme", "zoe", app.RoleUser, c.now())
	w.testSite = visit(t, append([]func(*Config){func(cfg *Config) { cfg.UseCases, cfg.Now = faces.Portal(w.app), c.now }}, change...)...)
	w.clock = c
	return w
}

func (w *userSite) user(t *testing.T, tenant, name string, role app.Role, at time.Time) {
	t.Helper()
	if err := w.store.CreateUser(t.Context(), identity.User{Tenant: tenant, Name: name, Role: role, PasswordHash: hashed, CreatedAt: at}); err != nil {
		t.Fatal(err)
	}
}

var hashed = identity.HashPassword(horse)

// another returns another browser at the same portal.
func (w *userSite) another() *userSite {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	s := *w.testSite
	s.http = &http.Client{Jar: jar, Transport: w.http.Transport, CheckRedirect: w.http.CheckRedirect}
	return &userSite{testSite: &s, app: w.app}
}

// enter signs in a user, by default of the first tenant.
func (w *userSite) enter(user string, tenant ...string) *userSite {
	w.t.Helper()
	a := w.post("/signin", url.Values{"user": {user}, "password": {horse}, "tenant": tenant})
	if a.status != http.StatusSeeOther {
		w.t.Fatalf("the sign-in of %s answers %d: %s", user, a.status, a.text())
	}
	return w
}

// in reports whether the browser is signed in.
func (w *userSite) in() bool {
	w.t.Helper()
	switch a := w.get("/account"); {
	case a.status == http.StatusOK:
		return true
	case a.status == http.StatusSeeOther && strings.HasPrefix(a.header.Get("Location"), "/signin"):
		return false
	default:
		w.t.Fatalf("the account answers %d: %s", a.status, a.text())
		return false
	}
}

// as returns a user as an actor, for use cases.
func (w *userSite) as(user string) app.Actor {
	w.t.Helper()
	u, err := w.store.User(context.Background(), app.DefaultTenant, user)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Actor()
}

// ends returns the session IDs of the buttons that end one.
func (a seen) ends() []string {
	var ids []string
	for d := range a.tree().Descendants() {
		if d.Type == html.ElementNode && d.Data == "input" && attr(d, "name") == "id" {
			ids = append(ids, attr(d, "value"))
		}
	}
	return ids
}

func TestSignInsAreSeenAndEnded(t *testing.T) {
	here := newUserSite(t).enter("ada")
	phone := here.another()
	phone.http.Transport = agent{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1", here.http.Transport}
	phone.enter("ada")

	a := here.get("/account")
	a.reads(http.StatusOK, "ada", "Your account in default", "this session", "Safari on iPhone", "from 127.0.0.1", "with password")
	ids := a.ends()
	if len(ids) != 1 {
		t.Fatalf("%d sign-ins can be ended, not the one of the phone", len(ids))
	}
	if !phone.in() {
		t.Fatal("the phone is not signed in")
	}
	if a := here.post("/account/sign-ins/end", url.Values{"id": ids}); a.status != http.StatusSeeOther {
		t.Fatalf("the end answers %d: %s", a.status, a.text())
	}
	here.get("/account").reads(http.StatusOK, "Session signed out.")
	here.get("/account").lacks("Session signed out.", "Safari on iPhone")
	if phone.in() {
		t.Error("the phone is signed in although its sign-in was ended")
	}
	phone.get("/signin").reads(http.StatusOK, "This session was ended.")
	phone.get("/signin").lacks("This session was ended.")
	here.post("/account/sign-ins/end", url.Values{"id": ids}).reads(http.StatusNotFound, "This session doesn't exist or has ended.")

	// All others at once.
	phone.enter("ada")
	laptop := here.another().enter("ada")
	here.post("/account/sign-ins/end-all", nil)
	here.get("/account").reads(http.StatusOK, "Signed out of 2 other sessions.")
	if phone.in() || laptop.in() || !here.in() {
		t.Error("others are signed in, or this one isn't")
	}
}

type agent struct {
	name string
	http.RoundTripper
}

func (a agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", a.name)
	return a.RoundTripper.RoundTrip(r)
}

func TestSignInsOfOthersAreTheirs(t *testing.T) {
	ada := newUserSite(t).enter("ada")
	eve := ada.another().enter("eve")
	zoe := ada.another().enter("zoe", "acme")
	own, err := ada.app.Identity.Sessions.Sessions(t.Context(), ada.as("abe"), "ada")
	if err != nil || len(own) != 1 {
		t.Fatalf("an admin sees %d sign-ins of ada: %v", len(own), err)
	}
	id := strconv.FormatInt(own[0].ID, 10)
	for name, other := range map[string]*userSite{"eve": eve, "zoe": zoe} {
		if a := other.post("/account/sign-ins/end", url.Values{"id": {id}}); a.status != http.StatusNotFound {
			t.Errorf("%s is answered %d", name, a.status)
		}
		other.post("/account/sign-ins/end-all", nil)
		other.get("/account").lacks(">"+id+"<", "ada")
	}
	if _, err := ada.app.Identity.Sessions.Sessions(t.Context(), ada.as("eve"), "ada"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("eve sees the sign-ins of ada: %v", err)
	}
	if err := ada.app.Identity.Sessions.RevokeSession(t.Context(), ada.as("eve"), "ada", own[0].ID); app.CodeOf(err) != app.EForbidden {
		t.Errorf("eve ends a sign-in of ada: %v", err)
	}
	if !ada.in() {
		t.Fatal("ada is not signed in any more")
	}
	if err := ada.app.Identity.Sessions.RevokeSession(t.Context(), ada.as("abe"), "ada", own[0].ID); err != nil || ada.in() {
		t.Errorf("an admin cannot end a sign-in of ada: %v", err)
	}
}

func TestChangesCountAtOnce(t *testing.T) {
	w := newUserSite(t).enter("ada")
	if a := w.get("/queue"); a.status != http.StatusForbidden {
		t.Fatalf("the queue answers a user %d", a.status)
	}
	admin := app.RoleAdmin
	if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "ada", identity.UserChange{Role: &admin}); err != nil {
		t.Fatal(err)
	}
	w.get("/account").reads(http.StatusOK, "Role admin")
	off := true
	if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "ada", identity.UserChange{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	if w.in() {
		t.Error("a disabled user is signed in")
	}
	w.get("/signin").reads(http.StatusOK, "This account is disabled.")
	on := false
	if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "ada", identity.UserChange{Disabled: &on}); err != nil {
		t.Fatal(err)
	}
	w.enter("ada")
	// A reset password ends all sessions, and must be changed first.
	secret, err := w.app.Identity.Users.ResetUserPassword(t.Context(), w.as("root"), "ada")
	if err != nil || w.in() {
		t.Fatalf("after a reset the sign-in counts: %v", err)
	}
	if a := w.post("/signin", url.Values{"user": {"ada"}, "password": {secret}, "next": {"/clusters"}}); a.status != http.StatusSeeOther {
		t.Fatalf("the one-time password is answered %d: %s", a.status, a.text())
	}
	for _, path := range []string{"/", "/account", "/clusters/new", "/step-up", "/link?token=x"} {
		if a := w.get(path); a.status != http.StatusSeeOther || a.header.Get("Location") != "/account/password" {
			t.Errorf("%s answers %d and leads to %q", path, a.status, a.header.Get("Location"))
		}
	}
	if a := w.post("/account/sign-ins/end-all", nil); a.header.Get("Location") != "/account/password" {
		t.Errorf("a form answers %d", a.status)
	}
	w.get("/account/password").reads(http.StatusOK, "Choose a new password", "signed in with a one-time password")
	if a := w.post("/account/password", url.Values{"old": {secret}, "new": {"four words of mine"}, "again": {"four words of mine"}}); a.header.Get("Location") != "/link?token=x" {
		t.Errorf("the change answers %d: %s", a.status, a.text())
	}
	if !w.in() {
		t.Error("after the change the sign-in does not count")
	}
}

func TestPasswordIsChanged(t *testing.T) {
	w := newUserSite(t).enter("ada")
	other := w.another().enter("ada")
	change := func(old, wanted, again string) seen {
		t.Helper()
		return w.post("/account/password", url.Values{"old": {old}, "new": {wanted}, "again": {again}})
	}
	for _, c := range []struct{ old, wanted, again, at, says string }{
		{"", "four words of mine", "four words of mine", "err-old", "Enter your current password."},
		{horse, "four words of mine", "four words of yours", "err-again", "The passwords don't match."},
		{horse, "short", "short", "err-new", "Password is too short: 5 characters."},
		{horse, "aaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaa", "err-new", "Password has too few different characters."},
		{horse, "Password2024!", "Password2024!", "err-new", "Password is too common."},
		{horse, "qwertyuiopas", "qwertyuiopas", "err-new", "Password is a keyboard pattern."},
		{horse, horse, horse, "err-new", "The new password must differ from the current one."},
		{"wrong horse", "four words of mine", "four words of mine", "err-old", "Wrong password."},
	} {
		if got := change(c.old, c.wanted, c.again).at(c.at); !strings.HasPrefix(got, c.says) {
			t.Errorf("%q to %q: %s is %q, want %q", c.old, c.wanted, c.at, got, c.says)
		}
	}
	if !other.in() {
		t.Fatal("refusals ended a sign-in")
	}
	here, _ := url.Parse(w.srv.URL)
	before := w.http.Jar.Cookies(here)[0].Value
	if a := change(horse, "four words of mine", "four words of mine"); a.status != http.StatusSeeOther {
		t.Fatalf("the change answers %d: %s", a.status, a.text())
	}
	if w.http.Jar.Cookies(here)[0].Value == before {
		t.Error("the browser has the same token as before")
	}
	if other.in() || !w.in() {
		t.Error("another sign-in outlived the password, or this one did not")
	}
	other.get("/signin").reads(http.StatusOK, "This session was ended.")
	if a := other.post("/signin", url.Values{"user": {"ada"}, "password": {horse}}); a.status != http.StatusUnauthorized {
		t.Errorf("the old password is answered %d", a.status)
	}
	// Guessing the old password is limited like sign-in.
	for range identitypage.AttemptsPerUser {
		change("wrong horse", "other words of mine", "other words of mine")
	}
	change("four words of mine", "other words of mine", "other words of mine").reads(http.StatusTooManyRequests, "Too many attempts.")
}

func TestSignInsEndByThemselves(t *testing.T) {
	w := newUserSite(t).enter("ada")
	for range 13 { // used every 11 hours, for six days
		w.clock.pass(11 * time.Hour)
		if !w.in() {
			t.Fatal("a sign-in that is used has ended")
		}
	}
	w.clock.pass(25 * time.Hour)
	if w.in() {
		t.Error("a sign-in counts after a day without use")
	}
	w.get("/signin").reads(http.StatusOK, "Your session has expired")
	w.enter("ada")
	began := w.clock.now()
	for w.in() {
		w.clock.pass(5 * time.Hour)
	}
	if age := w.clock.now().Sub(began); age < identity.SessionLife || age > identity.SessionLife+5*time.Hour {
		t.Errorf("a sign-in that is always used ended after %s", age)
	}
}

// A cookie whose session is no longer stored is what is left of one that has expired.
func TestAnExpiredSessionIsExplained(t *testing.T) {
	w := newUserSite(t).enter("ada")
	here, _ := url.Parse(w.srv.URL)
	cookie := *w.http.Jar.Cookies(here)[0]
	cookie.Value = strings.Repeat("x", len(cookie.Value))
	w.http.Jar.SetCookies(here, []*http.Cookie{&cookie})
	if a := w.get("/clusters"); a.header.Get("Location") != "/signin?next=%2Fclusters" {
		t.Errorf("the expired session leads to %q", a.header.Get("Location"))
	}
	w.get("/signin").reads(http.StatusOK, "Your session has expired. Sign in again.")
	w.another().get("/signin").lacks("Your session has expired")
}

func TestSignOutEnds(t *testing.T) {
	w := newUserSite(t).enter("ada")
	here, _ := url.Parse(w.srv.URL)
	stolen := w.http.Jar.Cookies(here)
	thief := w.another()
	thief.http.Jar.SetCookies(here, stolen)
	if !thief.in() {
		t.Fatal("a copied cookie doesn't work, so the test checks nothing")
	}
	if a := w.post("/signout", nil); a.header.Get("Location") != "/signin" {
		t.Errorf("the sign-out leads to %q", a.header.Get("Location"))
	}
	if thief.in() {
		t.Error("a copied cookie outlives the sign-out")
	}
	w.enter("ada").enter("eve")
	left, err := w.app.Identity.Sessions.Sessions(t.Context(), w.as("abe"), "ada")
	if err != nil || len(left) != 0 {
		t.Errorf("after another user signs in in the same browser, %d sessions of the first are left: %v", len(left), err)
	}
}

// TestStreamsEndWithTheSignIn checks that live pages stop updating when their session ends.
func TestStreamsEndWithTheSignIn(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.p.live.attend = time.Millisecond
	own, err := w.app.Identity.Sessions.Sessions(t.Context(), w.as("abe"), "ada")
	if err != nil || len(own) != 1 {
		t.Fatalf("%d sign-ins: %v", len(own), err)
	}
	began, ended := make(chan struct{}), make(chan struct{})
	w.p.served = w.p.Sessions.LoadAndSave(w.p.member(w.p.live.attended(func(_ http.ResponseWriter, r *http.Request, _ app.Actor) error {
		close(began)
		<-r.Context().Done()
		close(ended)
		return nil
	})))
	go func() { _, _ = w.http.Do(w.request("GET", "/live", "")) }()
	<-began
	w.clock.pass(time.Hour)
	select {
	case <-ended:
		t.Fatal("the stream ended although nothing happened")
	case <-time.After(20 * time.Millisecond): // many looks
	}
	if now, _ := w.app.Identity.Sessions.Sessions(t.Context(), w.as("abe"), "ada"); len(now) != 1 || !now[0].SeenAt.Equal(own[0].SeenAt) {
		t.Errorf("an open page counts as use: %+v", now)
	}
	if err := w.app.Identity.Sessions.RevokeSession(t.Context(), w.as("abe"), "ada", own[0].ID); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestAdminsEndSignIns(t *testing.T) {
	w := newUserSite(t).enter("ada")
	zoe := w.another().enter("zoe", "acme")
	if n, err := w.app.Identity.Sessions.RevokeAllSessions(t.Context(), w.as("abe"), "ada"); n != 1 || err != nil || w.in() {
		t.Errorf("%d sign-ins of ada ended: %v", n, err)
	}
	if n, err := w.app.Identity.Sessions.RevokeAllSessions(t.Context(), w.as("abe"), "zoe"); n != 0 || err != nil || !zoe.in() {
		t.Errorf("an admin ended %d sign-ins of another tenant: %v", n, err)
	}
	token := w.as("abe")
	token.Token = "ci"
	if _, err := w.app.Identity.Sessions.RevokeAllSessions(t.Context(), token, "ada"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a token ends sign-ins: %v", err)
	}
}

func TestAdminsPageOfSignIns(t *testing.T) {
	w := newUserSite(t).enter("ada")
	zoe := w.another().enter("zoe", "acme")
	_, token := w.link("U1")
	w.post("/link", token)
	abe, eve := w.another().enter("abe"), w.another().enter("eve")
	eve.get("/admin/users/ada/sign-ins").reads(http.StatusForbidden, "belongs to ada")
	eve.post("/admin/users/ada/sign-ins", url.Values{"id": {"all"}}).reads(http.StatusForbidden)
	abe.get("/admin/users/zoe/sign-ins").reads(http.StatusNotFound)
	abe.post("/admin/users/zoe/sign-ins", url.Values{"id": {"all"}})
	a := abe.get("/admin/users/ada/sign-ins")
	a.reads(http.StatusOK, "Sessions of ada", "with password", "Slack user U1 of workspace Acme")
	clean(t, "sign-ins of ada", a)
	abe.post("/admin/users/ada/identities", url.Values{"kind": {"slack"}, "external": {"U1"}})
	if who := w.who("U1"); who != "" {
		t.Errorf("the identity is still linked to %s", who)
	}
	if a := abe.post("/admin/users/ada/sign-ins", url.Values{"id": a.ends()}); a.header.Get("Location") != "/admin/users/ada/sign-ins" || w.in() {
		t.Errorf("the end answers %d to %s", a.status, a.header.Get("Location"))
	}
	w.enter("ada")
	abe.post("/admin/users/ada/sign-ins", url.Values{"id": {"all"}})
	abe.get("/admin/users/ada/sign-ins").reads(http.StatusOK, "Signed out of 1 session.", "No active sessions.")
	if w.in() || !zoe.in() || !abe.in() {
		t.Error("the wrong ones are signed in")
	}
}

func TestBrowserNames(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0":                                                               "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0":        "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15":                "Safari on a Mac",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36":                      "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.0.0 Mobile/15E148 Safari": "Chrome on iPhone",
		"curl/8.5.0": "curl/8.5.0", "": "A browser", "<script>alert(1)</script>": "A browser", strings.Repeat("x", 500): "A browser",
	} {
		if got := portalsite.BrowserOf(agent); got != want {
			t.Errorf("%q is %q, not %q", agent, got, want)
		}
	}
}

func TestOwnTokens(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.get("/account/tokens/new").reads(http.StatusOK, "New API token", "Request and change clusters")
	w.get("/account/tokens/new").lacks("Administer the tenant")
	for _, c := range []struct{ label, days, scope, at, says string }{
		{"", "3", "cluster", "err-label", ""}, {"ci", "soon", "cluster", "err-days", "Days must be a whole number."}, {"ci", "99999", "cluster", "err-days", ""},
		{"ci", "3", "admin", "err-scopes", "Role user can't use scope"},
	} {
		got := w.post("/account/tokens/new", url.Values{"label": {c.label}, "days": {c.days}, "scopes": {c.scope}}).at(c.at)
		if got == "" || !strings.HasPrefix(got, c.says) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	a := w.post("/account/tokens/new", url.Values{"label": {"ci"}, "days": {"3"}, "scopes": {"cluster"}})
	a.reads(http.StatusCreated, "API token ci", "won't be able to see it again")
	token := a.at("token")
	who, err := w.app.Identity.Tokens.ActorOfToken(t.Context(), token, "")
	if err != nil || who.User != "ada" || len(who.Scopes) != 2 {
		t.Fatalf("the token %q is that of %+v, %v", token, who, err)
	}
	page := w.get("/account")
	page.reads(http.StatusOK, "ci", "scopes: read, cluster", "last used just now")
	page.lacks(token)
	all, err := w.app.Identity.Tokens.Tokens(t.Context(), w.as("ada"), "")
	if err != nil || len(all) != 1 {
		t.Fatalf("%d tokens: %v", len(all), err)
	}
	id := url.Values{"id": {strconv.FormatInt(all[0].ID, 10)}}
	eve := w.another().enter("eve")
	if a := eve.post("/account/tokens/revoke", id); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
		t.Errorf("another user is answered %d", a.status)
	}
	if a := w.post("/account/tokens/revoke", id); a.status != http.StatusSeeOther {
		t.Errorf("the owner is answered %d: %s", a.status, a.text())
	}
	if _, err := w.app.Identity.Tokens.ActorOfToken(t.Context(), token, ""); app.CodeOf(err) != app.EUnauthorized {
		t.Errorf("a revoked token counts: %v", err)
	}
	w.get("/account").reads(http.StatusOK, "Token revoked.")
}

func TestAccountPagesAreClean(t *testing.T) {
	w := newUserSite(t).enter("ada")
	w.another().enter("ada")
	at, err := w.app.Identity.Links.LinkStart(t.Context(), "slack", "T1/U123", "Slack user ada of workspace Acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/account", "/account/password", "/account/tokens/new", "/step-up?next=/account", address.Of(at)} {
		clean(t, p, w.get(p))
	}
}

// clean checks the requirements of the content security policy and of assistive technology.
func clean(t *testing.T, name string, a seen) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%s answers %d: %s", name, a.status, a.text())
	}
	var labelled []string
	headings := 0
	ids := map[string]bool{}
	for n := range a.tree().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "h1" {
			headings++
		}
		if n.Data == "label" {
			labelled = append(labelled, attr(n, "for"))
		}
		if id := attr(n, "id"); id != "" && ids[id] {
			t.Errorf("%s: the id %s is there twice", name, id)
		}
		ids[attr(n, "id")] = true
		if has(n, "style") || n.Data == "style" || n.Data == "script" && attr(n, "src") == "" {
			t.Errorf("%s: there is an inline style or script", name)
		}
	}
	for n := range a.tree().Descendants() {
		if n.Data == "input" && attr(n, "type") != "hidden" && !slices.Contains(labelled, attr(n, "id")) {
			t.Errorf("%s: the input %s has no label", name, attr(n, "name"))
		}
	}
	if headings != 1 {
		t.Errorf("%s: there are %d first headings", name, headings)
	}
}
