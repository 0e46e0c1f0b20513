package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
	"muster/portal/ldap"
	"muster/portal/ldap/ldaptest"
	"muster/portal/oidc"
)

// certFiles writes a certificate for a name that ends at a time.
func certFiles(t *testing.T, name string, until time.Time) server.TLSConfig {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: until.Add(-365 * server.Day), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := server.TLSConfig{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	for file, block := range map[string]*pem.Block{c.Cert: {Type: "CERTIFICATE", Bytes: der}, c.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func wantChecked(t *testing.T, name string, got []checked, state, words string) {
	t.Helper()
	for _, c := range got {
		if c.State == state && strings.Contains(c.Message, words) {
			return
		}
	}
	t.Errorf("%s: %+v, want %s with %q", name, got, state, words)
}

func TestDoctorChecksCertificates(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	look := func(until time.Time, public string) []checked {
		d := &Doctor{now: func() time.Time { return now }, Config: server.Config{TLS: certFiles(t, "muster.example.org", until), SignIn: server.SignInConfig{URL: public}}}
		return d.tls(t.Context())
	}
	wantChecked(t, "long valid", look(now.Add(90*server.Day), "https://muster.example.org"), checkOK, "expires in 90 d")
	wantChecked(t, "ends soon", look(now.Add(10*server.Day), ""), checkWarn, "expires in 10 d")
	wantChecked(t, "ended", look(now.Add(-time.Hour), ""), CheckFail, "expired 2026-03-01 11:00:00")
	wantChecked(t, "another name", look(now.Add(90*server.Day), "https://other.example.org"), CheckFail, "is for muster.example.org")
}

func TestDoctorChecksDirectories(t *testing.T) {
	s := ldaptest.Start(t, ldaptest.Certificate{})
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	good := ldap.Config{Name: "corp", URL: s.SecureURL, Roots: roots, BindDN: ldaptest.BindDN, BindPassword: ldaptest.BindPassword, Base: ldaptest.Base,
		Filter: "(|(uid={user})(mail={user}))", Groups: ldap.GroupSearch{Base: ldaptest.Groups}, Rules: []identity.GrantRule{{Group: "admins",
			Grant: identity.Grant{Tenant: "acme", Role: app.RoleAdmin}}}}
	for _, x := range []struct {
		name, user, state, words string
		change                   func(*ldap.Config)
	}{
		{"good", "", checkOK, "Directory corp responds, and has people.", nil},
		{"a person", "ada", checkOK, "ada is uid=ada,ou=people,dc=example,dc=org, account ada, with 2 groups: admins; devs. Access: acme:admin.", nil},
		{"no rule", "eve", checkWarn, "with 1 group: devs. No rule matches.", nil},
		{"a stranger", "stranger", checkWarn, `no entry matches "stranger"`, nil},
		{"two people", "shared@acme.example", CheckFail, "more than one entry", nil},
		{"wrong bind password", "", CheckFail, "rejects the bind DN or its password", func(c *ldap.Config) { c.BindPassword = "wrong" }},
		{"wrong CA", "", CheckFail, "isn't from a trusted CA", func(c *ldap.Config) { c.Roots = x509.NewCertPool() }},
		{"wrong base", "", CheckFail, "has no entry", func(c *ldap.Config) { c.Base = "ou=none,dc=example,dc=org" }},
		{"down", "", CheckFail, "refuses connections", func(c *ldap.Config) { c.URL = "ldaps://127.0.0.1:1" }},
	} {
		c := good
		if x.change != nil {
			x.change(&c)
		}
		d := &Doctor{user: x.user}
		d.Config.SignIn.Directories = []ldap.Config{c}
		found := d.signIn(t.Context())
		wantChecked(t, x.name, found, x.state, x.words)
		for _, f := range found {
			if f.State != checkOK && f.Advice == "" || strings.Contains(f.Advice, "operator") {
				t.Errorf("%s: the advice is %q", x.name, f.Advice)
			}
		}
	}
}

func TestDoctorAsksIdentityProvidersAndSlack(t *testing.T) {
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	mux.HandleFunc("/good/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"`+srv.URL+`/good"}`)
	})
	mux.HandleFunc("/other/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"https://else.example"}`)
	})
	mux.HandleFunc("/auth.test", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer xoxb-good" {
			_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"team":"Example"}`)
	})
	d := &Doctor{}
	for name, state := range map[string]string{"good": checkOK, "other": CheckFail, "absent": CheckFail} {
		d.Config.SignIn.Providers = []oidc.Config{{Name: name, Issuer: srv.URL + "/" + name}}
		wantChecked(t, name, d.signIn(t.Context()), state, name)
	}
	d.Config.Slack = server.SlackConfig{Secret: "s", Token: "xoxb-good", API: srv.URL + "/"}
	wantChecked(t, "the right token", d.slack(t.Context()), checkOK, "Example")
	d.Config.Slack.Token = "xoxb-bad"
	wantChecked(t, "another token", d.slack(t.Context()), CheckFail, "invalid_auth")
}

// A check that hangs costs its time and no more, and the words of all are without secrets.
func TestDoctorTimesOutAndPrintsNoSecret(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer srv.Close()
	defer close(hang)
	d := &Doctor{now: time.Now, timeout: 300 * time.Millisecond, server: srv.URL, where: filepath.Join(t.TempDir(), "none.db")}
	d.Config = server.Config{Data: t.TempDir(), Listen: server.DefaultListen, Log: slog.New(slog.DiscardHandler), Env: func(name string) (string, bool) {
		return map[string]string{"MUSTER_ADMIN_PASSWORD": "correct-horse"}[name], name == "MUSTER_ADMIN_PASSWORD"
	}}
	d.wrong = cli.Usagef("the log has correct-horse")
	began := time.Now()
	all := d.look(t.Context())
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it took %s", took)
	}
	wantChecked(t, "a server that hangs", all, CheckFail, "isn't responding")
	wantChecked(t, "a secret", all, CheckFail, "the log has •••")
}

// TestDoctorWarnsOfPlainHTTP asks for a server that all hosts reach, without an address for people.
func TestDoctorWarnsOfPlainHTTP(t *testing.T) {
	d := &Doctor{Config: server.Config{Listen: "0.0.0.0:8420"}}
	wantChecked(t, "plain HTTP to all hosts", d.address(t.Context()), checkWarn, "anyone on the network can read passwords and tokens")
	d.Config.Listen = server.DefaultListen
	for _, c := range d.address(t.Context()) {
		if c.State != checkOK {
			t.Errorf("on this host only: %+v", c)
		}
	}
}
