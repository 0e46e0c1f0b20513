package ldap

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"

	"github.com/go-ldap/ldap/v3"
)

func goodConfig() Config {
	return Config{Name: "corp", URL: "ldaps://ldap.example.org", BindDN: "cn=muster,dc=example,dc=org", BindPassword: "hush", Base: "dc=example,dc=org",
		Default: &identity.Grant{Tenant: "acme", Role: app.RoleUser}}
}

func TestSettings(t *testing.T) {
	for name, ok := range map[string]func(*Config){
		"StartTLS":     func(c *Config) { c.URL = "ldap://ldap.example.org:1389/" },
		"on this host": func(c *Config) { c.URL, c.Plain = "ldap://127.0.0.1", true },
		"by IPv6":      func(c *Config) { c.URL, c.Plain = "ldap://[::1]:1389", true },
		"anonymous":    func(c *Config) { c.BindDN, c.BindPassword = "", "" },
		"Active Directory": func(c *Config) {
			c.BindDN, c.Filter, c.IDAttribute = "muster@corp.example.org", "(&(objectClass=user)(sAMAccountName={user}))", "objectGUID"
		},
		"posix groups": func(c *Config) {
			c.Groups = GroupSearch{Base: "ou=groups,dc=example,dc=org", Filter: "(memberUid={user})"}
		},
	} {
		c := goodConfig()
		ok(&c)
		if _, err := New(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for words, spoil := range map[string]func(*Config){
		"name: the name":                     func(c *Config) { c.Name = "Corp" },
		`name: the name must`:                func(c *Config) { c.Name = "tenant" },
		"rules: a rule or a default":         func(c *Config) { c.Default = nil },
		`base: base "" isn't a DN`:           func(c *Config) { c.Base = "" },
		`base: base "people"`:                func(c *Config) { c.Base = "people" },
		`bind_dn: bind_dn "muster"`:          func(c *Config) { c.BindDN = "muster" },
		"bind_dn: bind_dn and its password":  func(c *Config) { c.BindPassword = "" },
		"bind_dn: bind_dn and":               func(c *Config) { c.BindDN = "" },
		"filter: the filter must contain":    func(c *Config) { c.Filter = "(uid=*)" },
		`filter: the filter "(uid={user}"`:   func(c *Config) { c.Filter = "(uid={user}" },
		"groups: the filter of groups must":  func(c *Config) { c.Groups.Filter = "(cn=*)" },
		`groups: groups: base "groups"`:      func(c *Config) { c.Groups.Base = "groups" },
		`attributes: "mail, cn" isn't`:       func(c *Config) { c.EmailAttribute = "mail, cn" },
		"timeout: timeout must be":           func(c *Config) { c.Timeout = time.Millisecond },
		"timeout: timeout must be between":   func(c *Config) { c.Timeout = time.Hour },
		`url: url "http://x"`:                func(c *Config) { c.URL = "http://x" },
		`url: url "ldap://"`:                 func(c *Config) { c.URL = "ldap://" },
		`url: url "ldaps://a:b@x"`:           func(c *Config) { c.URL = "ldaps://a:b@x" },
		`url: url "ldaps://x/dc=y?uid"`:      func(c *Config) { c.URL = "ldaps://x/dc=y?uid" },
		"start_tls: start_tls: false":        func(c *Config) { c.URL, c.Plain = "ldap://10.0.0.1", true },
		"start_tls: start_tls: false is pos": func(c *Config) { c.URL, c.Plain = "ldap://localhost.example.org", true },
	} {
		c := goodConfig()
		spoil(&c)
		field, message, _ := strings.Cut(words, ": ")
		if _, err := New(c); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != field || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v", words, err)
		}
	}
}

// FuzzFilter checks that a name stays one value of a filter, whatever is in it.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{"ada", "*", "a)(uid=*", `\2a`, "\x00", "{dn}", "{user}", "\xff", "ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, user string) {
		p, err := ldap.CompileFilter(filled("(&(a=b)(uid={user}))", user, user))
		if err != nil {
			t.Fatalf("%q: %v", user, err)
		}
		if len(p.Children) != 2 || p.Children[1].Tag != ldap.FilterEqualityMatch && user != "" || len(p.Children[1].Children) == 2 &&
			p.Children[1].Children[1].Data.String() != user {
			t.Errorf("%q changes the filter", user)
		}
	})
}

// FuzzGroup checks that the form of a group's name is stable, and never that of another one.
func FuzzGroup(f *testing.F) {
	for _, s := range []string{"admins", "CN=Admins, OU=Groups", `cn=a\,b`, "cn=", "=", `cn=a\`, "cn=#04", "cn=a+ou=b", "ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, group string) {
		once := canonical(group)
		if canonical(strings.ToUpper(once)) == "" && once != "" {
			t.Errorf("%q becomes nothing", once)
		}
	})
}

// FuzzServer lets a server answer anything: a sign-in must end with an error.
func FuzzServer(f *testing.F) {
	f.Add([]byte("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00"))                                                         // bound
	f.Add([]byte("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\x00\x04\x00\x04\x00")) // and no entry
	f.Add([]byte("\x30\x84\x7f\xff\xff\xff"))                                                                                         // 2 GiB
	f.Add([]byte(strings.Repeat("\x30\x80", 5000)))                                                                                   // deep
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Close() })
	answers := make(chan []byte, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer := <-answers
			go func() { _, _ = io.Copy(io.Discard, c) }()
			_, _ = c.Write(answer)
			_ = c.(*net.TCPConn).CloseWrite()
		}
	}()
	c := goodConfig()
	c.URL, c.Plain, c.Timeout, c.Roots = "ldap://"+l.Addr().String(), true, 5*time.Second, x509.NewCertPool()
	d, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		answers <- answer
		if s, err := d.Prove(context.Background(), "ada", "lovelace"); err == nil && s.ID == "" {
			t.Error("a sign-in without a person")
		}
	})
}
