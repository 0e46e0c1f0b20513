package portal

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	identitycore "muster/app/identity"
	"muster/portal/address"
	"muster/portal/identity"
	"muster/portal/oidc"
	"muster/portal/site"

	"github.com/zitadel/oidc/v3/example/server/storage"
	oidclib "github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
	"golang.org/x/text/language"
)

// sso is a real OpenID provider on loopback, built from a certified one, with people whose groups tests change. It has no sessions: it
// asks for name and password each time.
type sso struct {
	*storage.Storage
	srv    *httptest.Server
	mu     sync.Mutex
	people map[string]*storage.User
	groups map[string][]string
	back   []string // where browsers may be sent
}

// signOutClient is a client with an address for after sign-out.
type signOutClient struct {
	*storage.Client
	home []string
}

func (c signOutClient) PostLogoutRedirectURIs() []string { return c.home }

func newSSO(t *testing.T, redirects ...string) *sso {
	t.Helper()
	s := &sso{groups: map[string][]string{}, back: redirects, people: map[string]*storage.User{
		"ada": {ID: "id-ada", Username: "ada@acme.example", Password: "lovelace", FirstName: "Ada", LastName: "Lovelace", Email: "ada@acme.example", EmailVerified: true, PreferredLanguage: language.English},
		"eve": {ID: "id-eve", Username: "eve", Password: "drop", FirstName: "Eve", LastName: "Dropper", Email: "root@acme.example", PreferredLanguage: language.English},
	}}
	s.Storage = storage.NewStorageWithClients(s, map[string]*storage.Client{"muster": storage.WebClient("muster", "hush", redirects...)})
	mux := http.NewServeMux()
	s.srv = httptest.NewServer(mux)
	t.Cleanup(s.srv.Close)
	config := &op.Config{CodeMethodS256: true, AuthMethodPost: true, SupportedUILocales: []language.Tag{language.English}, DefaultLogoutRedirectURI: "/bye"}
	_, _ = rand.Read(config.CryptoKey[:])
	//nolint:staticcheck // NewProvider needs a function for one address
	provider, err := op.NewOpenIDProvider(s.srv.URL, config, s, op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/", provider)
	back := op.AuthCallbackURL(provider)
	mux.Handle("/login/username", op.NewIssuerInterceptor(provider.IssuerFromRequest).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.FormValue("authRequestID")
		if r.Method != http.MethodPost {
			_, _ = w.Write([]byte("<!doctype html><title>SSO</title><h1>SSO</h1><form method=post><input id=username name=username><input id=password name=password type=password><button>Go</button></form>"))
			return
		}
		if err := s.CheckUsernamePassword(r.FormValue("username"), r.FormValue("password"), id); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, back(r.Context(), id), http.StatusFound)
	}))
	return s
}

func (s *sso) GetUserByID(id string) *storage.User {
	for _, u := range s.people {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *sso) GetUserByUsername(name string) *storage.User { return s.people[name] }

func (s *sso) ExampleClientID() string { return "service" }

func (s *sso) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != "muster" {
		return nil, oidclib.ErrInvalidClient()
	}
	home := ""
	if len(s.back) > 0 {
		home, _, _ = strings.Cut(s.back[0], "/signin/")
	}
	return signOutClient{storage.WebClient("muster", "hush", s.back...), []string{home + "/signin"}}, nil
}

func (s *sso) SetUserinfoFromToken(ctx context.Context, info *oidclib.UserInfo, token, subject, origin string) error {
	if err := s.Storage.SetUserinfoFromToken(ctx, info, token, subject, origin); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info.AppendClaims("groups", slices.Clone(s.groups[subject]))
	return nil
}

func (s *sso) set(subject string, groups ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[subject] = groups
}

// newSSOSite returns a town with an identity provider.
func newSSOSite(t *testing.T, change ...func(*oidc.Config)) (*userSite, *sso) {
	t.Helper()
	s := newSSO(t)
	var handler http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	s.back = []string{srv.URL + "/signin/sso/callback"}
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(hc.CloseIdleConnections)
	c := oidc.Config{Name: "sso", Label: "Acme SSO", Issuer: s.srv.URL, ClientID: "muster", ClientSecret: "hush", RedirectURL: s.back[0], HomeURL: srv.URL + "/signin", HTTP: hc}
	for _, text := range []string{"admins -> acme:admin", "devs -> acme:user:builders,ops", "devs -> default:viewer", "ghosts -> nowhere:user"} {
		r, err := identitycore.ParseGrantRule(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = append(c.Rules, r)
	}
	for _, f := range change {
		f(&c)
	}
	provider, err := oidc.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w := newUserSite(t, func(cfg *Config) { cfg.Providers, cfg.URL = []site.IdentityProvider{provider}, srv.URL })
	w.clock.t = time.Now() // the provider's clock is the real one
	handler = w.p
	w.srv.Close()
	w.srv = srv
	return w, s
}

// travel opens a path and follows redirects, as a browser does.
func (w *userSite) travel(path string) (seen, *url.URL) {
	w.t.Helper()
	return w.walk(w.request("GET", path, ""))
}

func (w *userSite) walk(r *http.Request) (seen, *url.URL) {
	w.t.Helper()
	c := *w.http
	c.CheckRedirect = nil
	var last *url.URL
	c.Transport = watcher{func(r *http.Request) { last = r.URL }, w.http.Transport}
	s := *w.testSite
	s.http = &c
	a := s.do(r)
	return a, last
}

type watcher struct {
	see func(*http.Request)
	http.RoundTripper
}

func (w watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	w.see(r)
	return w.RoundTripper.RoundTrip(r)
}

// by signs a person in at the provider, starting at a path of the portal, and returns the final page.
func (w *userSite) by(s *sso, path, user string) (seen, *url.URL) {
	w.t.Helper()
	a, at := w.travel(path)
	if !strings.HasPrefix(at.String(), s.srv.URL+"/login/username") {
		w.t.Fatalf("%s leads to %s, which answers %d: %s", path, at, a.status, a.text())
	}
	r, err := http.NewRequest("POST", at.String(), strings.NewReader(url.Values{"username": {user}, "password": {s.people[user].Password}}.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.walk(r)
}

func TestSignInByProvider(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-ada", "admins", "choir")
	w.get("/signin?next=/account").reads(http.StatusOK, "Sign in with Acme SSO", "or with a password")
	a, at := w.by(s, "/signin/sso?next=/account", "ada")
	if at.Path != "/account" {
		t.Fatalf("the sign-in ends at %s: %s", at, a.text())
	}
	a.reads(http.StatusOK, "ada", "Your account in acme", "Role admin", "Groups none", "Signed in with Acme SSO", "with Acme SSO")
	a.lacks("Change password")
	u, err := w.store.User(t.Context(), "acme", "ada")
	if err != nil || u.PasswordHash != "" || u.Email != "ada@acme.example" || u.FullName != "Ada Lovelace" || u.CreatedBy != "sso" {
		t.Errorf("the account is %+v, %v", u, err)
	}
	if a := w.another().post("/signin", url.Values{"user": {"ada"}, "tenant": {"acme"}, "password": {"lovelace"}}); a.status != http.StatusUnauthorized {
		t.Errorf("a password opens an account without one: %d", a.status)
	}

	// Changed claims apply at the next sign-in, and to the other tenant.
	phone := w.another()
	s.set("id-ada", "devs")
	a, at = phone.by(s, "/signin/sso", "ada")
	if at.Path != "/signin/tenant" {
		t.Fatalf("of two tenants, one is chosen: %s", at)
	}
	a.reads(http.StatusOK, "Signed in with Acme SSO as Ada Lovelace", "acme as user", "default as viewer")
	phone.post("/signin/tenant", url.Values{"tenant": {"nowhere"}}).reads(http.StatusForbidden, `You don't have access to tenant "nowhere".`)
	phone.by(s, "/signin/sso?next=/account", "ada")
	if a := phone.post("/signin/tenant", url.Values{"tenant": {"acme"}}); a.header.Get("Location") != "/account" {
		t.Fatalf("the choice answers %d: %s", a.status, a.text())
	}
	for _, b := range []*userSite{w, phone} {
		b.get("/account").reads(http.StatusOK, "Role user", "Groups builders, ops")
	}
	if a := phone.post("/signin/tenant", url.Values{"tenant": {"default"}}); a.status == http.StatusSeeOther && a.header.Get("Location") != "/signin" {
		t.Errorf("a choice counts twice: %d to %s", a.status, a.header.Get("Location"))
	}

	// A person without groups is signed out everywhere at the next sign-in.
	s.set("id-ada", "choir")
	a, _ = w.another().by(s, "/signin/sso", "ada")
	a.reads(http.StatusForbidden, "You're signed in at Acme SSO, but none of your groups there has access to a tenant.")
	if w.in() || phone.in() {
		t.Error("a person without groups is still signed in elsewhere")
	}
	s.set("id-ada", "ghosts")
	a, _ = w.another().by(s, "/signin/sso", "ada")
	a.reads(http.StatusNotFound, `Your groups have access to tenant "nowhere", which doesn't exist.`)
}

func TestNamesAreNotTaken(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-eve", "devs")
	w.by(s, "/signin/sso", "eve")
	// There is a local eve in the tenant default, with a password and clusters of her own.
	w.post("/signin/tenant", url.Values{"tenant": {"default"}}).reads(http.StatusConflict, `Account "eve" already exists in tenant "default", and isn't linked to Acme SSO.`)
	if w.in() {
		t.Error("an identity provider handed out another user's account")
	}
	w.by(s, "/signin/sso", "eve")
	if a := w.post("/signin/tenant", url.Values{"tenant": {"acme"}}); a.status != http.StatusSeeOther {
		t.Fatalf("eve of acme: %d %s", a.status, a.text())
	}
	if u, err := w.store.User(t.Context(), "acme", "eve"); err != nil || u.Email != "" {
		t.Errorf("an unverified address is used: %q, %v", u.Email, err)
	}
}

func TestProviderAnswersCountOnceAndHere(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-ada", "admins")
	var answer *url.URL
	w.http.Transport = watcher{func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/callback") && r.URL.Query().Has("code") {
			answer = r.URL
		}
	}, w.http.Transport}
	w.by(s, "/signin/sso", "ada")
	if answer == nil || !w.in() {
		t.Fatal("sign-in failed")
	}
	const expired = "This sign-in has expired, was already used, or started in another browser."
	thief := w.another()
	a, _ := thief.travel(answer.RequestURI())
	a.reads(http.StatusUnauthorized, expired)
	w.post("/signout", nil)
	a, _ = w.travel(answer.RequestURI())
	a.reads(http.StatusUnauthorized, expired)

	// Another person's answer doesn't sign in a victim who opens it.
	victim := w.another()
	victim.travel("/signin/sso")
	a, _ = victim.travel(answer.RequestURI())
	a.reads(http.StatusUnauthorized, expired)

	// Too late.
	slow := w.another()
	slow.travel("/signin/sso")
	r := slow.request("GET", "/signin/sso", "")
	res := slow.do(r)
	state, _ := url.Parse(res.header.Get("Location"))
	slow.clock.pass(identity.AwayTime + time.Minute)
	a, _ = slow.travel("/signin/sso/callback?code=x&state=" + state.Query().Get("state"))
	a.reads(http.StatusUnauthorized, expired)
	q := state.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" || q.Get("code_challenge") == "" {
		t.Errorf("the browser is sent away with %v", q)
	}
}

func TestProviderRefuses(t *testing.T) {
	w, _ := newSSOSite(t)
	begin := func() string {
		t.Helper()
		to, err := url.Parse(w.get("/signin/sso?next=/clusters/new").header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		return to.Query().Get("state")
	}
	for answer, want := range map[string]string{
		"error=access_denied": "Acme SSO denied access",
		"error=server_error":  "Acme SSO is temporarily unavailable.",
		"error=strange&error_description=Come+%3Cb%3Elater%3C/b%3E": "Acme SSO says: Come <b>later</b>.",
		"code=made-up":                      "this sign-in was already used or has expired",
		"nothing=1":                         "It has no code.",
		"code=x&iss=https://evil.example":   "It came from another provider.",
		"error=invalid_scope&error_uri=nix": "rejected Muster's request: invalid scope",
	} {
		a := w.get("/signin/sso/callback?state=" + begin() + "&" + answer)
		if a.status < 400 {
			t.Errorf("%s is answered %d", answer, a.status)
		}
		if got := a.at("trouble"); !strings.Contains(got, want) {
			t.Errorf("%s: the page says %q, not %q", answer, got, want)
		}
		if next := a.fields().Get("next"); next != "/clusters/new" {
			t.Errorf("%s: where to go next is forgotten: %q", answer, next)
		}
	}
	if w.in() {
		t.Error("a refusal signs in")
	}
}

func TestWrongSecretIsExplained(t *testing.T) {
	w, s := newSSOSite(t, func(c *oidc.Config) { c.ClientSecret = "wrong" })
	a, _ := w.by(s, "/signin/sso", "ada")
	a.reads(http.StatusBadGateway, "Acme SSO rejected Muster's client ID or secret.")
	a.lacks("wrong\"", "hush")
}

func TestProviderIsAway(t *testing.T) {
	w, s := newSSOSite(t)
	s.srv.Close()
	w.get("/signin/sso").reads(http.StatusServiceUnavailable, "Acme SSO isn't responding as an identity provider.", "Sign in")
	w.enter("ada") // passwords still do
}

func TestStepUpByProvider(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-ada", "admins")
	s.set("id-eve", "devs")
	w.by(s, "/signin/sso", "ada")
	w.clock.pass(time.Hour)
	link, err := w.app.Identity.Links.LinkStart(t.Context(), "slack", "T1/U1", "Slack user ada of workspace Acme")
	if err != nil {
		t.Fatal(err)
	}
	path := address.Of(link)
	token := url.Values{"token": {strings.TrimPrefix(path, "/link?token=")}}
	a := w.post("/link", token, "Referer", w.srv.URL+path)
	if want := "/step-up?next=" + url.QueryEscape(path); a.header.Get("Location") != want {
		t.Fatalf("a risky change redirects to %q, want %q", a.header.Get("Location"), want)
	}
	w.get(a.header.Get("Location")).reads(http.StatusOK, "Confirm it's you", "Re-authenticate with Acme SSO")
	w.post("/step-up", url.Values{"password": {"lovelace"}, "next": {"/"}}).reads(http.StatusConflict, "This account has no password in Muster.")

	// Another person at the provider isn't enough.
	w.clock.t = time.Now()
	a, _ = w.by(s, "/step-up/sso?next="+url.QueryEscape(path), "eve")
	a.reads(http.StatusForbidden, "You're signed in to the identity provider as someone other than ada.")
	w.clock.pass(time.Hour)
	if a := w.post("/link", token); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/step-up") {
		t.Fatalf("another user's proof counts: %d to %s", a.status, a.header.Get("Location"))
	}
	w.clock.t = time.Now()
	if _, at := w.by(s, "/step-up/sso?next="+url.QueryEscape(path), "ada"); at.Path != "/link" {
		t.Fatalf("the proof leads to %s", at)
	}
	w.post("/link", token)
	w.get("/account").reads(http.StatusOK, "Slack user ada of workspace Acme linked to your account.")
}

func TestSignOutOffersTheProviders(t *testing.T) {
	w, s := newSSOSite(t)
	s.set("id-ada", "admins")
	w.by(s, "/signin/sso", "ada")
	a := w.post("/signout", nil)
	w.get(a.header.Get("Location")).reads(http.StatusOK, "You've signed out.", "You may still be signed in to Acme SSO.", "Sign out of Acme SSO")
	to := w.get("/signin/sso/leave").header.Get("Location")
	if !strings.HasPrefix(to, s.srv.URL+"/end_session?") {
		t.Fatalf("the sign-out there is at %q", to)
	}
	_, at := w.travel("/signin/sso/leave")
	if at.String() != w.srv.URL+"/signin" {
		t.Errorf("the sign-out there ends at %s", at)
	}
}
