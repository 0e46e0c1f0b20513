package oidc

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeProvider is an identity provider that answers as a test wants, and checks requests.
type fakeProvider struct {
	t     *testing.T
	srv   *httptest.Server
	keys  []*rsa.PrivateKey // published; the first signs
	asked struct{ discovery, keys, tokens int }
	mu    sync.Mutex
	codes map[string]string // code to challenge; each works once

	// Settings of a test. The nonce is included unless bend removes it.
	alg      string
	bend     func(c map[string]any)
	reported map[string]any // added to its metadata
	info     map[string]any // userinfo; nil for none
	sign     *rsa.PrivateKey
	noToken  bool
}

var twoKeys = func() [2]*rsa.PrivateKey {
	a, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	b, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return [2]*rsa.PrivateKey{a, b}
}()

func newFakeProvider(t *testing.T) *fakeProvider {
	t.Helper()
	l := &fakeProvider{t: t, keys: []*rsa.PrivateKey{twoKeys[0]}, codes: map[string]string{}, alg: "RS256"}
	l.srv = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.srv.Close)
	return l
}

func (l *fakeProvider) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		l.asked.discovery++
		d := map[string]any{"issuer": l.srv.URL, "authorization_endpoint": l.srv.URL + "/auth", "token_endpoint": l.srv.URL + "/token", "jwks_uri": l.srv.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}}
		if l.info != nil {
			d["userinfo_endpoint"] = l.srv.URL + "/info"
		}
		for k, v := range l.reported {
			d[k] = v
		}
		answer(http.StatusOK, d)
	case "/keys":
		l.asked.keys++
		var keys []any
		for _, k := range l.keys {
			keys = append(keys, map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": kid(k), "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())})
		}
		answer(http.StatusOK, map[string]any{"keys": keys})
	case "/token":
		l.asked.tokens++
		_ = r.ParseForm()
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		nonce, challenge, _ := strings.Cut(l.codes[r.PostForm.Get("code")], " ")
		delete(l.codes, r.PostForm.Get("code"))
		if challenge == "" || challenge != b64(sum[:]) {
			answer(http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "secret-of-the-provider"})
			return
		}
		if id, secret, _ := r.BasicAuth(); id != "muster" || secret != "hush" {
			answer(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			return
		}
		out := map[string]any{"access_token": "at", "token_type": "Bearer", "expires_in": 60}
		if !l.noToken {
			out["id_token"] = l.token(nonce)
		}
		answer(http.StatusOK, out)
	case "/info":
		answer(http.StatusOK, l.info)
	default:
		http.NotFound(w, r)
	}
}

func b64(b []byte) string          { return base64.RawURLEncoding.EncodeToString(b) }
func kid(k *rsa.PrivateKey) string { s := sha256.Sum256(k.N.Bytes()); return b64(s[:6]) }
func unix(t time.Time) float64     { return float64(t.Unix()) }
func jsonOf(v any) string          { b, _ := json.Marshal(v); return b64(b) }
func (l *fakeProvider) signer() *rsa.PrivateKey {
	if l.sign != nil {
		return l.sign
	}
	return l.keys[0]
}

// token returns a valid ID token, changed by bend.
func (l *fakeProvider) token(nonce string) string {
	now := time.Now()
	c := map[string]any{"iss": l.srv.URL, "aud": "muster", "sub": "s1", "nonce": nonce, "iat": unix(now), "exp": unix(now.Add(time.Minute)), "auth_time": unix(now),
		"preferred_username": "ada", "email": "ada@acme.example", "email_verified": true, "groups": []string{"admins"}}
	if l.bend != nil {
		l.bend(c)
	}
	head := jsonOf(map[string]any{"alg": l.alg, "kid": kid(l.signer()), "typ": "JWT"})
	text := head + "." + jsonOf(c)
	switch l.alg {
	case "none":
		return text + "."
	case "HS256": // the known attack: the public key as the secret
		m := hmac.New(sha256.New, l.keys[0].N.Bytes())
		m.Write([]byte(text))
		return text + "." + b64(m.Sum(nil))
	}
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, l.signer(), crypto.SHA256, sum[:])
	if err != nil {
		l.t.Error(err)
	}
	return text + "." + b64(sig)
}

func (l *fakeProvider) provider(change ...func(*Config)) *Provider {
	l.t.Helper()
	tr := &http.Transport{}
	l.t.Cleanup(tr.CloseIdleConnections)
	c := Config{Name: "sso", Label: "Acme SSO", Issuer: l.srv.URL, ClientID: "muster", ClientSecret: "hush", RedirectURL: "http://127.0.0.1/signin/sso/callback",
		Rules: []identity.GrantRule{{Group: "admins", Grant: identity.Grant{Tenant: "acme", Role: app.RoleAdmin}}}, HTTP: &http.Client{Transport: tr}}
	for _, f := range change {
		f(&c)
	}
	p, err := New(c)
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// leave signs a person in at the provider; it returns the secret for Finish, and the answer.
func (l *fakeProvider) leave(p *Provider, again bool) (secret string, answer url.Values) {
	l.t.Helper()
	to, state, secret, err := p.Start(context.Background(), again)
	if err != nil {
		l.t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		l.t.Fatal(err)
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("state") != state || strings.Contains(to, "hush") {
		l.t.Errorf("the browser is redirected to %s", to)
	}
	if again != (q.Get("prompt") == "login" && q.Get("max_age") == "0") {
		l.t.Errorf("again is %v, and the browser is redirected to %s", again, to)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	code := rand.Text()
	l.codes[code] = q.Get("nonce") + " " + q.Get("code_challenge")
	return secret, url.Values{"code": {code}, "state": {state}}
}

func (l *fakeProvider) try(p *Provider) (identity.Subject, error) {
	l.t.Helper()
	secret, answer := l.leave(p, false)
	return p.Finish(context.Background(), secret, answer)
}

// tryUntil repeats a sign-in until it ends as expected.
func (l *fakeProvider) tryUntil(p *Provider, good func(error) bool) (identity.Subject, error) {
	l.t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		s, err := l.try(p)
		if good(err) || time.Now().After(end) {
			return s, err
		}
	}
}

// refused checks that an answer is refused with a message, and that neither error nor log contains secrets.
func refused(t *testing.T, err error, code app.Code, says string) {
	t.Helper()
	if app.CodeOf(err) != code || !strings.Contains(app.AsError(err).Message, says) {
		t.Errorf("got %v (%s), want %s with %q", err, app.CodeOf(err), code, says)
	}
	for _, secret := range []string{"hush", "secret-of-the-provider", "id_token\":"} {
		if err != nil && strings.Contains(fmt.Sprintf("%+v", err), secret) {
			t.Errorf("the error contains %q: %v", secret, err)
		}
	}
}

func TestGoodAnswer(t *testing.T) {
	s, err := func() (identity.Subject, error) { l := newFakeProvider(t); return l.try(l.provider()) }()
	if err != nil || s.ID != "s1" || s.Name != "ada" || s.Email != "ada@acme.example" || len(s.Grants) != 1 || s.Grants[0].Role != app.RoleAdmin {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestBadTokens(t *testing.T) {
	now := time.Now()
	set := func(k string, v any) func(map[string]any) { return func(c map[string]any) { c[k] = v } }
	for name, c := range map[string]struct {
		bend func(map[string]any)
		says string // "" for a valid token
	}{
		"another nonce":                {set("nonce", "other"), "It belongs to another sign-in."},
		"no nonce":                     {func(c map[string]any) { delete(c, "nonce") }, "It belongs to another sign-in."},
		"another audience":             {set("aud", "other"), "Its ID token is for another service."},
		"two audiences, of us first":   {set("aud", []string{"muster", "other"}), ""},
		"two audiences, of us second":  {set("aud", []string{"other", "muster"}), "Its ID token is for another service."},
		"authorised for another":       {func(c map[string]any) { c["aud"], c["azp"] = []string{"muster", "other"}, "other" }, "Its ID token is for another service."},
		"authorised for us":            {func(c map[string]any) { c["aud"], c["azp"] = []string{"other", "muster"}, "muster" }, ""},
		"another issuer":               {set("iss", "https://evil.example"), "Its ID token is from another provider."},
		"expired":                      {set("exp", unix(now.Add(-2*time.Minute))), "Its ID token has expired"},
		"expired within the clocks":    {set("exp", unix(now.Add(-30*time.Second))), ""},
		"not yet":                      {set("nbf", unix(now.Add(time.Hour))), "Its ID token isn't valid yet"},
		"issued in the future":         {set("iat", unix(now.Add(time.Hour))), "Its ID token isn't valid yet"},
		"issued a moment ahead":        {set("iat", unix(now.Add(30*time.Second))), ""},
		"no subject":                   {set("sub", ""), "It doesn't say who you are."},
		"a very long subject":          {set("sub", strings.Repeat("x", 300)), "It doesn't say who you are."},
		"parts of two sign-ins":        {set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), "Its tokens don't match."},
		"groups that are no list":      {set("groups", map[string]any{"a": 1}), "It doesn't say who you are."},
		"a name of nothing but spaces": {func(c map[string]any) { c["preferred_username"], c["sub"] = "@@@", "s1" }, "It doesn't say who you are."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFakeProvider(t)
			l.bend = c.bend
			_, err := l.try(l.provider())
			if c.says == "" {
				if err != nil {
					t.Errorf("valid token refused: %v", err)
				}
				return
			}
			refused(t, err, app.EUnauthorized, c.says)
		})
	}
}

func TestSignatures(t *testing.T) {
	const bad = "The signature of its ID token is invalid."
	t.Run("none", func(t *testing.T) {
		l := newFakeProvider(t)
		l.alg = "none"
		_, err := l.try(l.provider())
		refused(t, err, app.EUnauthorized, bad)
	})
	t.Run("by the public key", func(t *testing.T) {
		l := newFakeProvider(t)
		l.alg = "HS256"
		_, err := l.try(l.provider())
		refused(t, err, app.EUnauthorized, bad)
	})
	t.Run("by a key that isn't the provider's", func(t *testing.T) {
		l := newFakeProvider(t)
		l.sign = twoKeys[1]
		_, err := l.try(l.provider())
		refused(t, err, app.EUnauthorized, bad)
	})
	t.Run("by a new key of the provider's", func(t *testing.T) {
		l := newFakeProvider(t)
		p := l.provider()
		if _, err := l.try(p); err != nil {
			t.Fatal(err)
		}
		l.mu.Lock()
		l.keys = []*rsa.PrivateKey{twoKeys[1]}
		l.mu.Unlock()
		// go-oidc caches fetched keys only after it has returned them, so the next caller may still get the old ones.
		_, err := l.tryUntil(p, func(err error) bool { return err == nil })
		if err != nil {
			t.Errorf("after a change of keys: %v", err)
		}
		l.sign = twoKeys[0] // no longer published
		_, err = l.tryUntil(p, func(err error) bool { return err != nil })
		refused(t, err, app.EUnauthorized, bad)
		if l.asked.discovery != 1 {
			t.Errorf("the provider's metadata was fetched %d times", l.asked.discovery)
		}
	})
	t.Run("no token at all", func(t *testing.T) {
		l := newFakeProvider(t)
		l.noToken = true
		_, err := l.try(l.provider())
		refused(t, err, app.EUnauthorized, "It has no ID token.")
	})
}

func TestCodesWorkOnceAndForTheirOwn(t *testing.T) {
	l := newFakeProvider(t)
	p := l.provider()
	secret, answer := l.leave(p, false)
	if _, err := p.Finish(t.Context(), secret, answer); err != nil {
		t.Fatal(err)
	}
	_, err := p.Finish(t.Context(), secret, answer)
	refused(t, err, app.EUnauthorized, "this sign-in was already used or has expired")

	// A code stolen from another browser comes without its verifier.
	_, stolen := l.leave(p, false)
	mine, _ := l.leave(p, false)
	_, err = p.Finish(t.Context(), mine, stolen)
	refused(t, err, app.EUnauthorized, "this sign-in was already used or has expired")
}

func TestMixUp(t *testing.T) {
	l := newFakeProvider(t)
	l.reported = map[string]any{"authorization_response_iss_parameter_supported": true}
	p := l.provider()
	for _, c := range []struct {
		iss  string
		good bool
	}{{l.srv.URL, true}, {"", false}, {"https://evil.example", false}} {
		secret, answer := l.leave(p, false)
		if c.iss != "" {
			answer.Set("iss", c.iss)
		}
		before := l.asked.tokens
		if _, err := p.Finish(t.Context(), secret, answer); c.good != (err == nil) {
			t.Errorf("iss %q: %v", c.iss, err)
		}
		if !c.good && l.asked.tokens != before {
			t.Errorf("iss %q: the code was sent", c.iss)
		}
	}
}

func TestAgainMeansAgain(t *testing.T) {
	for name, c := range map[string]struct {
		at   any
		good bool
	}{"just now": {unix(time.Now()), true}, "an hour ago": {unix(time.Now().Add(-time.Hour)), false}, "missing": {nil, false}, "in words": {"now", false}} {
		t.Run(name, func(t *testing.T) {
			l := newFakeProvider(t)
			l.bend = func(claims map[string]any) {
				if claims["auth_time"] = c.at; c.at == nil {
					delete(claims, "auth_time")
				}
			}
			p := l.provider()
			secret, answer := l.leave(p, true)
			_, err := p.Finish(t.Context(), secret, answer)
			if c.good && err != nil {
				t.Error(err)
			}
			if !c.good {
				refused(t, err, app.EForbidden, "didn't re-authenticate you")
			}
		})
	}
}

func TestUserinfo(t *testing.T) {
	l := newFakeProvider(t)
	l.bend = func(c map[string]any) { delete(c, "groups") }
	l.info = map[string]any{"sub": "s1", "groups": []string{"admins"}, "email": "root@acme.example", "preferred_username": "root"}
	s, err := l.try(l.provider())
	if err != nil || len(s.Grants) != 1 || s.Name != "ada" || s.Email != "ada@acme.example" {
		t.Errorf("%+v, %v", s, err)
	}
	l.info["sub"] = "s2"
	_, err = l.try(l.provider())
	refused(t, err, app.EUnauthorized, "It is about another user.")
}

func TestDiscovery(t *testing.T) {
	for name, reported := range map[string]map[string]any{
		"another issuer":       {"issuer": "https://evil.example"},
		"tokens without TLS":   {"token_endpoint": "http://sso.example/token"},
		"a page without TLS":   {"authorization_endpoint": "http://sso.example/auth"},
		"a script for a page":  {"authorization_endpoint": "javascript:alert(1)"},
		"something very large": {"x": strings.Repeat("x", answerSize)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFakeProvider(t)
			l.reported = reported
			_, _, _, err := l.provider().Start(t.Context(), false)
			refused(t, err, app.ETransient, "isn't responding as an identity provider")
		})
	}
	t.Run("a failure is cached for a moment, metadata for longer", func(t *testing.T) {
		now := time.Now()
		l := newFakeProvider(t)
		l.reported = map[string]any{"issuer": "https://evil.example"}
		p := l.provider(func(c *Config) { c.Now = func() time.Time { return now } })
		for range 5 {
			_, _, _, _ = p.Start(t.Context(), false)
		}
		if l.asked.discovery != 1 {
			t.Errorf("fetched %d times at one moment", l.asked.discovery)
		}
		l.reported = nil
		now = now.Add(giveUpFor)
		if _, err := l.try(p); err != nil {
			t.Error(err)
		}
		now = now.Add(knownFor)
		l.reported = map[string]any{"issuer": "https://evil.example"}
		if _, _, _, err := p.Start(t.Context(), false); err != nil {
			t.Errorf("cached metadata is lost: %v", err)
		}
	})
}

func TestLeave(t *testing.T) {
	l := newFakeProvider(t)
	if to := l.provider().Leave(t.Context()); to != "" {
		t.Errorf("without a sign-out address: %q", to)
	}
	l.reported = map[string]any{"end_session_endpoint": "javascript:alert(1)"}
	if to := l.provider().Leave(t.Context()); to != "" {
		t.Errorf("got %q", to)
	}
	l.reported = map[string]any{"end_session_endpoint": l.srv.URL + "/bye?x=1"}
	if to := l.provider(func(c *Config) { c.HomeURL = "http://localhost/signin" }).Leave(t.Context()); to != l.srv.URL+"/bye?client_id=muster&post_logout_redirect_uri=http%3A%2F%2Flocalhost%2Fsignin&x=1" {
		t.Errorf("got %q", to)
	}
}
