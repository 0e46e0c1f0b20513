package portal

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"muster/app"
	identitycore "muster/app/identity"
	"muster/portal/identity"
	"muster/portal/ldap"
	"muster/portal/ldap/ldaptest"
)

// TestSignInByDirectory signs people of a real LDAP server in.
func TestSignInByDirectory(t *testing.T) {
	s := ldaptest.Start(t, ldaptest.Certificate{})
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := ldap.Config{Name: "corp", Label: "Corp directory", URL: s.SecureURL, Roots: roots, BindDN: ldaptest.BindDN, BindPassword: ldaptest.BindPassword,
		Base:   ldaptest.Base,
		Groups: ldap.GroupSearch{Base: ldaptest.Groups}, Timeout: 20 * time.Second}
	for _, text := range []string{"admins -> acme:admin", "devs -> acme:user:builders", "devs -> default:viewer"} {
		r, err := identitycore.ParseGrantRule(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = append(c.Rules, r)
	}
	directory, err := ldap.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w := newUserSite(t, func(cfg *Config) {
		cfg.Directories = []identitycore.Directory{directory}
		cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	enter := func(b *userSite, user, password, tenant, next string) seen {
		t.Helper()
		return b.post("/signin", url.Values{"user": {user}, "password": {password}, "tenant": {tenant}, "next": {next}})
	}
	fresh := func() *userSite { b := w.another(); b.store, b.clock = w.store, w.clock; return b }

	t.Run("a person of one tenant", func(t *testing.T) {
		w.get("/signin").reads(http.StatusOK, "Use your account of Corp directory, or a local account.")
		b := fresh()
		if a := enter(b, "ada", "lovelace", "acme", "/account"); a.header.Get("Location") != "/account" {
			t.Fatalf("%d to %q: %s", a.status, a.header.Get("Location"), a.text())
		}
		a := b.get("/account")
		a.reads(http.StatusOK, "ada", "Your account in acme", "Role admin", "Groups builders", "Signed in with Corp directory")
		a.lacks("Change password")
		u, err := w.store.User(t.Context(), "acme", "ada")
		if err != nil || u.PasswordHash != "" || u.Email != "ada@acme.example" || u.FullName != "Ada Lovelace" || u.CreatedBy != "corp" {
			t.Errorf("the account is %+v, %v", u, err)
		}
	})

	t.Run("a person of several tenants chooses", func(t *testing.T) {
		b := fresh()
		if a := enter(b, "mallory", "mallory", "", "/account"); a.status != http.StatusForbidden ||
			!strings.Contains(a.text(), "none of your groups there has access to a tenant") {
			t.Errorf("without groups: %d %s", a.status, a.text())
		}
		s.Join("devs", "mallory")
		if a := enter(b, "mallory", "mallory", "", "/account"); a.header.Get("Location") != "/signin/tenant" {
			t.Fatalf("%d to %q: %s", a.status, a.header.Get("Location"), a.text())
		}
		b.get("/signin/tenant").reads(http.StatusOK, "Signed in with Corp directory as Mallory", "acme as user", "default as viewer")
		if a := b.post("/signin/tenant", url.Values{"tenant": {"acme"}}); a.header.Get("Location") != "/account" || !b.in() {
			t.Errorf("%d to %q", a.status, a.header.Get("Location"))
		}
		// Who has left all groups is signed out everywhere at the next sign-in.
		s.Leave("devs", "mallory")
		enter(fresh(), "mallory", "mallory", "", "/")
		if b.in() {
			t.Error("a person without groups is still signed in elsewhere")
		}
	})

	t.Run("local accounts aren't the directory's", func(t *testing.T) {
		// ada and eve of the tenant default have passwords in Muster; the directory's are never tried there.
		if a := enter(fresh(), "eve", "drop*)(uid=ada", "default", "/"); a.status != http.StatusUnauthorized {
			t.Errorf("the directory's password opens a local account: %d", a.status)
		}
		if a := enter(fresh(), "eve", horse, "", "/"); a.status != http.StatusSeeOther {
			t.Errorf("the local password doesn't: %d %s", a.status, a.text())
		}
		if a := enter(fresh(), "ada", horse, "acme", "/"); a.status != http.StatusUnauthorized {
			t.Errorf("a local password of another tenant: %d", a.status)
		}
		// A name that is taken there isn't handed out.
		s.AddPerson("zoe", "zoe's password")
		s.Join("admins", "zoe")
		if err := w.store.CreateUser(t.Context(), identitycore.User{Tenant: "acme", Name: "robbie", Role: app.RoleRobot, CreatedAt: w.clock.now()}); err != nil {
			t.Fatal(err)
		}
		s.AddPerson("robbie", "robbie's password")
		s.Join("admins", "robbie")
		enter(fresh(), "robbie", "robbie's password", "acme", "/").reads(http.StatusConflict, `Account "robbie" already exists in tenant "acme", and isn't linked to Corp directory.`)
	})

	t.Run("refused", func(t *testing.T) {
		b := fresh()
		for _, user := range []string{"ada", "stranger", "*", "ada)(uid=*"} {
			enter(b, user, "not it", "acme", "/").reads(http.StatusUnauthorized, "Wrong username or password.")
		}
		enter(b, "ada", "", "acme", "/").reads(http.StatusUnprocessableEntity, "Enter your password.")
		w.clock.pass(identity.AttemptsWindow)
		// Attempts count for the person, whatever tenant or case is entered.
		for i := range identity.AttemptsPerUser {
			user := "eve"
			if i%2 == 1 {
				user = "EVE"
			}
			enter(b, user, "not it", fmt.Sprint("t", i), "/").reads(http.StatusUnauthorized, "Wrong username or password.")
		}
		enter(b, "Eve", "drop*)(uid=ada", "acme", "/").reads(http.StatusTooManyRequests, "Too many attempts.")
		w.clock.pass(identity.AttemptsWindow)
		entries, err := w.store.Audit(t.Context(), app.AuditFilter{Tenant: "acme", Limit: 50})
		if err != nil || !strings.Contains(fmt.Sprint(entries), "sign-in") {
			t.Errorf("refusals aren't in the audit: %v, %v", entries, err)
		}
	})

	t.Run("step-up and tokens", func(t *testing.T) {
		b := fresh()
		enter(b, "Ada", "lovelace", "acme", "/account")
		w.clock.pass(time.Hour)
		form := url.Values{"label": {"ci"}, "days": {"1"}, "scopes": {"read"}}
		a := b.post("/account/tokens/new", form, "Referer", b.srv.URL+"/account")
		to := a.header.Get("Location")
		if !strings.HasPrefix(to, "/step-up?next=") {
			t.Fatalf("a token needs no step-up: %d to %q: %s", a.status, to, a.text())
		}
		b.get(to).reads(http.StatusOK, "Confirm it's you", "Password of Corp directory")
		b.post("/step-up", url.Values{"password": {"not it"}, "next": {"/account"}}).reads(http.StatusUnauthorized, "Wrong username or password.")
		if a := b.post("/step-up", url.Values{"password": {"lovelace"}, "next": {"/account"}}); a.status != http.StatusSeeOther {
			t.Fatalf("the right password: %d %s", a.status, a.text())
		}
		if a := b.post("/account/tokens/new", form); a.status >= 400 || strings.HasPrefix(a.header.Get("Location"), "/step-up") {
			t.Errorf("after the step-up: %d to %q: %s", a.status, a.header.Get("Location"), a.text())
		}

		// A program signs in through the browser, as everywhere.
		program := w.asks()
		b.get("/device?code="+program.User).reads(http.StatusOK, "act as ada in acme")
	})

	t.Run("the server is away", func(t *testing.T) {
		b := fresh()
		enter(b, "ada", "lovelace", "acme", "/")
		if err := s.Process().Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Process().Wait()
		enter(fresh(), "ada", "lovelace", "acme", "/").reads(http.StatusServiceUnavailable, "Corp directory refuses connections.",
			"Local accounts can still sign in.")
		fresh().enter("abe")
		if !b.in() {
			t.Error("sessions end with the directory")
		}
		b.post("/step-up", url.Values{"password": {"lovelace"}, "next": {"/account"}}).reads(http.StatusServiceUnavailable, "Corp directory refuses connections.")
	})

	for _, secret := range []string{"lovelace", "not it", ldaptest.BindPassword, "drop*"} {
		if strings.Contains(strings.ReplaceAll(strings.ToLower(log.String()), "ada lovelace", ""), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
