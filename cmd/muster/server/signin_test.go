package server

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
)

const signInYAML = `providers:
  - name: acme
    label: Acme SSO
    issuer: https://sso.acme.example
    client_id: muster
    client_secret_env: ACME_SECRET
    scopes: [profile, groups]
    claims: {groups: realm_access.roles}
    rules:
      - admins -> acme:admin
      - developers -> acme:user:ops,builders
    default: acme:viewer
  - name: other
    issuer: https://other.example
    client_id: m2
    client_secret_file: other.secret
    rules: ["all -> default:user"]
`

func TestSignInSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("other.secret", "hush-2\n")
	vars := map[string]string{"ACME_SECRET": " hush-1 ", "MUSTER_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7", "MUSTER_PUBLIC_URL": "https://muster.example.org/"}
	env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }

	c, err := signInFlags{file: write("good.yaml", signInYAML)}.read(env)
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != "https://muster.example.org" || len(c.Proxies) != 2 || c.Proxies[1].String() != "192.0.2.7/32" {
		t.Errorf("%+v", c)
	}
	if len(c.Providers) != 2 || c.Providers[0].ClientSecret != "hush-1" || c.Providers[1].ClientSecret != "hush-2" || c.Providers[0].GroupsClaim != "realm_access.roles" ||
		len(c.Providers[0].Rules) != 2 || strings.Join(c.Providers[0].Rules[1].Grant.Groups, " ") != "builders ops" || c.Providers[0].Default.Role != app.RoleViewer {
		t.Errorf("%+v", c.Providers)
	}
	open, _, err := c.open(c.URL)
	if err != nil || len(open) != 2 || open[0].Label() != "Acme SSO" || open[1].Label() != "other" {
		t.Errorf("%v, %v", open, err)
	}

	for name, spoil := range map[string]func(string) string{
		"field secret not found":                         func(s string) string { return strings.Replace(s, "client_secret_env", "secret", 1) },
		"environment variable ABSENT isn't set":          func(s string) string { return strings.Replace(s, "ACME_SECRET", "ABSENT", 1) },
		"no such file":                                   func(s string) string { return strings.Replace(s, "other.secret", "none", 1) },
		`two providers have the name "acme"`:             func(s string) string { return strings.Replace(s, "name: other", "name: acme", 1) },
		`Unknown role "king"`:                            func(s string) string { return strings.Replace(s, "acme:admin", "acme:king", 1) },
		`Invalid rule "all default:user"`:                func(s string) string { return strings.Replace(s, "all -> default", "all default", 1) },
		"at least one provider or directory is required": func(string) string { return "providers: []\n" },
		"client_secret_env and client_secret_file can't": func(s string) string {
			return strings.Replace(s, "    scopes", "    client_secret_file: x\n    scopes", 1)
		},
	} {
		_, _, err := readSignIn(write("bad.yaml", spoil(signInYAML)), env)
		if app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "bad.yaml") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
	insecure := c
	insecure.Providers[0].Issuer = "http://sso.acme.example"
	if _, _, err := insecure.open(c.URL); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), "must start with https://") {
		t.Errorf("an issuer without TLS: %v", err)
	}
}

func TestAddressesInSettings(t *testing.T) {
	for text, want := range map[string]string{
		"https://muster.example.org": "https://muster.example.org", "http://localhost:8420/": "http://localhost:8420", "": "",
		"muster.example.org": "error", "https://muster.example.org/path": "error", "ftp://x": "error", "https://u:p@x": "error", "https://x?y": "error",
	} {
		got, err := publicURL(text)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
	for text, want := range map[string]int{"": 0, "10.0.0.0/8": 1, "10.1.2.3/8,::1": 2, "0.0.0.0/0": -1, "::/0": -1, "proxy": -1, "10.0.0.0/33": -1} {
		all, err := trustedProxies(text)
		if err != nil {
			if want >= 0 {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if len(all) != want {
			t.Errorf("%q are %v", text, all)
		}
	}
}

// The file that docs/sign-in.md has people write can be read.
func TestSignInFileInDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```yaml\n")
	text, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatal("docs/sign-in.md has no YAML")
	}
	own := httptest.NewTLSServer(nil)
	own.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate().Raw})
	dir := t.TempDir()
	for name, text := range map[string]string{"sign-in.yaml": text, "acme.secret": "hush\n", "acme-ca.pem": string(ca)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := readSignIn(filepath.Join(dir, "sign-in.yaml"), func(string) (string, bool) { return "", false })
	if err != nil || len(all) != 1 || len(all[0].Rules) != 3 || all[0].ClientSecret != "hush" {
		t.Errorf("%+v, %v", all, err)
	}
	_, text, found = strings.Cut(string(page), "```yaml\ndirectories:")
	text, _, closed = strings.Cut(text, "```")
	if !found || !closed {
		t.Fatal("docs/sign-in.md has no YAML with directories")
	}
	for name, text := range map[string]string{"sign-in.yaml": "directories:" + text, "corp.secret": "hush\n", "corp-ca.pem": string(ca)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, directories, err := readSignIn(filepath.Join(dir, "sign-in.yaml"), func(string) (string, bool) { return "", false })
	if err != nil || len(directories) != 1 || len(directories[0].Rules) != 2 || directories[0].BindPassword != "hush" || directories[0].Timeout != 10*time.Second {
		t.Errorf("%+v, %v", directories, err)
	}
	for words, spoil := range map[string][2]string{
		"start_tls: false is possible only":         {"ldaps://ldap.example.org", "ldap://ldap.example.org\n    start_tls: false"},
		"bind_password_env and bind_password_file":  {"    bind_password_file:", "    bind_password_env: X\n    bind_password_file:"},
		"bind_dn and its password require":          {"    bind_password_file: corp.secret", "   "},
		"the filter must contain {user}":            {"(uid={user})", "(uid=*)"},
		`timeout: "soon" isn't a duration`:          {"timeout: 10s", "timeout: soon"},
		`Unknown role "king"`:                       {"acme:admin", "acme:king"},
		"field bind_password not found":             {"bind_password_file:", "bind_password:"},
		"two providers or directories have the nam": {"    rules:", "    rules: [a -> acme:user]\n  - name: corp\n    rules:"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("directories:"+strings.Replace(text, spoil[0], spoil[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readSignIn(filepath.Join(dir, "bad.yaml"), func(string) (string, bool) { return "x", true }); app.CodeOf(err) != app.EInvalid ||
			!strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}
