package ldap_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/ldap"
	"muster/portal/ldap/ldaptest"
)

func rules(t testing.TB, texts ...string) (all []identity.GrantRule) {
	t.Helper()
	for _, text := range texts {
		r, err := identity.ParseGrantRule(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func config(t testing.TB, s *ldaptest.Server) ldap.Config {
	t.Helper()
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return ldap.Config{Name: "corp", Label: "Corp directory", URL: s.SecureURL, Roots: roots, BindDN: ldaptest.BindDN, BindPassword: ldaptest.BindPassword,
		Base:   ldaptest.Base,
		Groups: ldap.GroupSearch{Base: ldaptest.Groups}, Timeout: 20 * time.Second,
		Rules: rules(t, "ADMINS -> acme:admin", "devs -> acme:user:builders", "devs -> default:viewer")}
}

// TestSlapd runs everything against real servers.
func TestSlapd(t *testing.T) {
	s := ldaptest.Start(t, ldaptest.Certificate{})
	good := config(t, s)
	prove := func(t *testing.T, user, password string, change ...func(*ldap.Config)) (identity.Subject, error) {
		t.Helper()
		c := good
		for _, f := range change {
			f(&c)
		}
		d, err := ldap.New(c)
		if err != nil {
			t.Fatal(err)
		}
		who, err := d.Prove(t.Context(), user, password)
		if err != nil && password != "" && strings.Contains(err.Error(), password) {
			t.Errorf("the error tells the password: %v", err)
		}
		return who, err
	}
	fails := func(t *testing.T, err error, code app.Code, words string) {
		t.Helper()
		if e := app.AsError(err); err == nil || e.Code != code || !strings.Contains(e.Message+" "+e.Hint+" "+e.Reason, words) {
			t.Errorf("got %v (%s), want %s with %q", err, app.AsError(err).Advised(), code, words)
		}
	}

	t.Run("the right password", func(t *testing.T) {
		for name, change := range map[string]func(*ldap.Config){
			"ldaps":                 func(*ldap.Config) {},
			"StartTLS":              func(c *ldap.Config) { c.URL = s.URL },
			"plain, to this host":   func(c *ldap.Config) { c.URL, c.Plain, c.Roots = s.URL, true, nil },
			"memberUid-like filter": func(c *ldap.Config) { c.Groups.Filter = "(|(member=uid={user}," + ldaptest.Base + "))" },
		} {
			who, err := prove(t, "ada", "lovelace", change)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if who.Name != "ada" || who.FullName != "Ada Lovelace" || who.Email != "ada@acme.example" || who.Issuer != "ldap:corp" ||
				who.How != identity.ByLDAP || len(who.ID) != 36 {
				t.Errorf("%s: %+v", name, who)
			}
			if len(who.Grants) != 2 || who.Grants[0].Tenant != "acme" || who.Grants[0].Role != app.RoleAdmin ||
				strings.Join(who.Grants[0].Groups, " ") != "builders" || who.Grants[1].Role != app.RoleViewer {
				t.Errorf("%s: grants %+v", name, who.Grants)
			}
		}
	})

	t.Run("refused", func(t *testing.T) {
		byMail := func(c *ldap.Config) { c.Filter = "(|(uid={user})(mail={user}))" }
		for _, x := range []struct{ user, password, reason string }{
			{"ada", "wrong", "wrong_password"}, {"ada", "", "wrong_password"}, {"nopass", "", "wrong_password"}, {"nopass", "x", "wrong_password"}, {"ada",
				strings.Repeat("x", 2000), "wrong_password"},
			{"stranger", "x", "no_entry"}, {"", "x", "no_entry"}, {"*", "lovelace", "no_entry"}, {"a*", "lovelace", "no_entry"}, {"ada)(uid=*", "lovelace", "no_entry"},
			{"ada)(|(uid=*", "lovelace", "no_entry"}, {`ada\29\28uid=\2a`, "lovelace", "no_entry"}, {"ada\x00", "lovelace", "no_entry"}, {"ada\n", "lovelace", "no_entry"}, {"\xff", "x", "no_entry"},
			{ldaptest.BindDN, ldaptest.BindPassword, "no_entry"}, {"uid=ada," + ldaptest.Base, "lovelace", "no_entry"}, {"muster", ldaptest.BindPassword,
				"no_entry"}, {strings.Repeat("a", 500), "x", "no_entry"},
		} {
			_, err := prove(t, x.user, x.password, byMail)
			fails(t, err, app.EUnauthorized, x.reason)
		}
		_, err := prove(t, "shared@acme.example", "mallory", byMail)
		fails(t, err, app.ECredentials, "more than one entry")
		if who, err := prove(t, "eve", "drop*)(uid=ada"); err != nil || who.Name != "eve" || who.Grants[0].Role != app.RoleUser {
			t.Errorf("a password with special characters: %+v, %v", who, err)
		}
	})

	t.Run("groups", func(t *testing.T) {
		// A club that is called like a group isn't that group.
		if who, err := prove(t, "mallory", "mallory"); err != nil || len(who.Grants) != 0 {
			t.Errorf("mallory has %+v, %v", who.Grants, err)
		}
		if who, err := prove(t, "mallory", "mallory", func(c *ldap.Config) {
			c.Default = &identity.Grant{Tenant: "acme",
				Role: app.RoleViewer}
		}); err != nil || len(who.Grants) != 1 || who.Grants[0].Role != app.RoleViewer {
			t.Errorf("by default, mallory has %+v, %v", who.Grants, err)
		}
		memberOf := func(c *ldap.Config) {
			c.Groups = ldap.GroupSearch{}
			c.Rules = rules(t, "CN=ops, OU=groups, dc=example,dc=org -> acme:approver", "ops -> acme:admin")
		}
		s.AddGroup("ops", "mallory")
		if who, err := prove(t, "mallory", "mallory", memberOf); err != nil || len(who.Grants) != 1 || who.Grants[0].Role != app.RoleApprover {
			t.Errorf("by memberOf, mallory has %+v, %v", who.Grants, err)
		}
		s.Join("ops", "eve")
		s.Leave("ops", "mallory")
		if who, err := prove(t, "mallory", "mallory", memberOf); err != nil || len(who.Grants) != 0 {
			t.Errorf("mallory left, and has %+v, %v", who.Grants, err)
		}
	})

	t.Run("the same name again is someone else", func(t *testing.T) {
		s.AddPerson("temp", "first")
		before, err := prove(t, "temp", "first")
		if err != nil {
			t.Fatal(err)
		}
		s.Remove("temp")
		_, err = prove(t, "temp", "first")
		fails(t, err, app.EUnauthorized, "no_entry")
		s.AddPerson("temp", "second")
		if after, err := prove(t, "temp", "second"); err != nil || after.ID == before.ID {
			t.Errorf("%+v, %v", after, err)
		}
	})

	t.Run("settings that don't fit", func(t *testing.T) {
		expired, other := ldaptest.Start(t, ldaptest.Certificate{Expired: true}), ldaptest.Start(t, ldaptest.Certificate{Name: "ldap.example.org"})
		for words, change := range map[string]func(*ldap.Config){
			"rejects the bind DN or its password":   func(c *ldap.Config) { c.BindPassword = "wrong" },
			"isn't from a trusted CA":               func(c *ldap.Config) { c.Roots = config(t, expired).Roots },
			"has expired":                           func(c *ldap.Config) { c.Roots, c.URL = config(t, expired).Roots, expired.SecureURL },
			"certificate of Corp directory has exp": func(c *ldap.Config) { c.Roots, c.URL = config(t, expired).Roots, expired.URL },
			"is for another host name":              func(c *ldap.Config) { c.Roots, c.URL = config(t, other).Roots, other.SecureURL },
			"in the certificate in url":             func(c *ldap.Config) { c.Roots, c.URL = config(t, other).Roots, other.URL },
			`has no entry "ou=none,dc=example`:      func(c *ldap.Config) { c.Base = "ou=none,dc=example,dc=org" },
			`has no entry "ou=none,dc=other`:        func(c *ldap.Config) { c.Base = "ou=none,dc=other,dc=org" },
			"doesn't show the ID":                   func(c *ldap.Config) { c.IDAttribute = "employeeNumber" },
		} {
			_, err := prove(t, "ada", "lovelace", change)
			fails(t, err, app.ECredentials, words)
			c := good
			change(&c)
			d, err := ldap.New(c)
			if err != nil {
				t.Fatal(err)
			}
			fails(t, d.Check(t.Context()), app.ECredentials, words)
		}
		_, err := prove(t, "ada", "lovelace", func(c *ldap.Config) { c.URL = "ldaps" + strings.TrimPrefix(s.URL, "ldap") })
		fails(t, err, app.ETransient, "ldap:// for StartTLS")
		_, err = prove(t, "ada", "lovelace", func(c *ldap.Config) { c.NameAttribute = "employeeType" })
		fails(t, err, app.EForbidden, "no employeeType")
		d, err := ldap.New(good)
		if err != nil || d.Check(t.Context()) != nil {
			t.Errorf("good settings: %v, %v", err, d.Check(t.Context()))
		}
		empty := good
		empty.Filter = "(&(sn=Stranger)(uid={user}))"
		if d, err = ldap.New(empty); err != nil {
			t.Fatal(err)
		}
		fails(t, d.Check(t.Context()), app.ENotFound, "that matches the filter")
		if d, err = ldap.New(good); err != nil {
			t.Fatal(err)
		}
		dn, who, groups, err := d.LookUp(t.Context(), "ada")
		if err != nil || dn != "uid=ada,"+ldaptest.Base || who.Name != "ada" || len(groups) != 2 {
			t.Errorf("%s %+v %v %v", dn, who, groups, err)
		}
	})

	t.Run("cut in the middle", func(t *testing.T) {
		// After any number of bytes from the server, a sign-in works or says that the server is at fault.
		for _, after := range []int{0, 1, 7, 13, 14, 15, 30, 200, 400} {
			at := cutter(t, strings.TrimPrefix(s.URL, "ldap://"), after)
			_, err := prove(t, "ada", "lovelace", func(c *ldap.Config) { c.URL, c.Plain = "ldap://"+at, true })
			if err != nil && app.CodeOf(err) != app.ETransient {
				t.Errorf("cut after %d bytes: %v", after, err)
			}
		}
	})

	t.Run("a server that hangs, and one that is killed", func(t *testing.T) {
		victim := ldaptest.Start(t, ldaptest.Certificate{})
		c := config(t, victim)
		c.Timeout = time.Second
		d, err := ldap.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.Process().Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		_, err = d.Prove(t.Context(), "ada", "lovelace")
		fails(t, err, app.ETransient, "took too long")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Prove(gone, "ada", "lovelace"); app.CodeOf(err) != app.ETransient && !errors.Is(err, context.Canceled) {
			t.Errorf("a browser that has left: %v", err)
		}
		if err := victim.Process().Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		c.Timeout = 20 * time.Second
		if d, err = ldap.New(c); err != nil {
			t.Fatal(err)
		}
		var worked atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					_, err := d.Prove(t.Context(), "ada", "lovelace")
					if err != nil {
						if app.CodeOf(err) != app.ETransient {
							t.Errorf("while the server was killed: %v", err)
						}
						return
					}
					if worked.Add(1) == 20 {
						_ = victim.Process().Kill()
					}
				}
			})
		}
		wg.Wait()
		_, err = d.Prove(t.Context(), "ada", "lovelace")
		fails(t, err, app.ETransient, "refuses connections")
		fails(t, d.Check(t.Context()), app.ETransient, "Local accounts can still sign in.")
	})
}

// cutter forwards connections to a server, and closes them after so many bytes from it.
func cutter(t *testing.T, to string, after int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				return
			}
			go func() { _, _ = io.Copy(s, c) }()
			go func() {
				_, _ = io.CopyN(c, s, int64(after))
				_, _ = c.Close(), s.Close()
			}()
		}
	}()
	return l.Addr().String()
}
