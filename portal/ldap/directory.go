package ldap

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/identity"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

const (
	maxMessage = 1 << 20 // bytes of one message from a server
	maxAnswers = 4 << 20 // bytes of all that a server sends in a sign-in
)

// limitMessages makes the decoder refuse messages that are too long before it makes room for them.
var limitMessages = sync.OnceFunc(func() { ber.MaxPacketLengthBytes, ber.MaxNestingDepth = maxMessage, 50 })

// Directory is an LDAP server with people. It is safe for concurrent use.
type Directory struct{ c Config }

var _ identity.Directory = (*Directory)(nil)

// New checks the settings of a directory. It doesn't connect to it, so Muster starts without it.
func New(c Config) (*Directory, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	limitMessages()
	return &Directory{c: c}, nil
}

// Name is the directory's name in the settings.
func (d *Directory) Name() string { return d.c.Name }

// Label is the directory's display name.
func (d *Directory) Label() string { return d.c.Label }

// Tenants are those that the rules name.
func (d *Directory) Tenants() []string {
	var all []string
	for _, r := range d.c.Rules {
		all = append(all, r.Grant.Tenant)
	}
	if d.c.Default != nil {
		all = append(all, d.c.Default.Tenant)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// limited is a connection that ends when a server has sent too much.
type limited struct {
	net.Conn
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// connect returns an encrypted connection on which no one is bound yet, and closes it when the context ends.
func (d *Directory) connect(ctx context.Context) (*ldap.Conn, func(), error) {
	u, err := url.Parse(d.c.URL)
	if err != nil {
		return nil, nil, err
	}
	secure := u.Scheme == "ldaps"
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "636", false: "389"}[secure]
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, nil, d.away(err)
	}
	if until, ok := ctx.Deadline(); ok {
		_ = raw.SetDeadline(until)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	var conn net.Conn = &limited{raw, maxAnswers}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.c.Roots, ServerName: u.Hostname()}
	if secure {
		t := tls.Client(conn, config)
		if err := t.HandshakeContext(ctx); err != nil {
			stop()
			_ = raw.Close()
			return nil, nil, d.noTLS(err)
		}
		conn = t
	}
	c := ldap.NewConn(conn, secure)
	c.Start()
	leave := func() {
		stop()
		_ = c.Close()
		_ = raw.Close()
	}
	if !secure && !d.c.Plain {
		if err := c.StartTLS(config); err != nil {
			leave()
			return nil, nil, d.noTLS(err)
		}
	}
	return c, leave, nil
}

// bindService binds as the account that finds people.
func (d *Directory) bindService(c *ldap.Conn) error {
	if d.c.BindDN == "" {
		return nil
	}
	if err := c.Bind(d.c.BindDN, d.c.BindPassword); err != nil {
		return d.noBind(err)
	}
	return nil
}

// Prove implements identity.Directory.
func (d *Directory) Prove(ctx context.Context, user, password string) (identity.Subject, error) {
	if password == "" || len(password) > maxPassword {
		return identity.Subject{}, wrongPassword(errors.New("the password is empty or too long"))
	}
	if !usable(user) {
		return identity.Subject{}, noEntry()
	}
	ctx, cancel := context.WithTimeout(ctx, d.c.Timeout)
	defer cancel()
	c, leave, err := d.connect(ctx)
	if err != nil {
		return identity.Subject{}, err
	}
	defer leave()
	if err := d.bindService(c); err != nil {
		return identity.Subject{}, err
	}
	e, err := d.find(c, user)
	if app.AsError(err).Reason == identity.ReasonNoEntry {
		// A bind that fails, so that the time taken doesn't tell whether there is such a person.
		_ = c.Bind("cn="+rand.Text()+","+d.c.Base, rand.Text())
	}
	if err != nil {
		return identity.Subject{}, err
	}
	if err := c.Bind(e.DN, password); err != nil {
		return identity.Subject{}, d.refused(err)
	}
	return d.subject(c, user, e, true)
}

// usable reports whether there can be a person of that name.
func usable(user string) bool {
	return user != "" && len(user) <= maxUser && utf8.ValidString(user) && !slices.ContainsFunc([]rune(user), unicode.IsControl)
}

// find returns the one entry of a person.
func (d *Directory) find(c *ldap.Conn, user string) (*ldap.Entry, error) {
	r := ldap.NewSearchRequest(d.c.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 2, d.seconds(), false, filled(d.c.Filter, user, ""),
		d.c.attributes(), nil)
	r.EnforceSizeLimit = true
	found, err := c.Search(r)
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) || errors.Is(err, ldap.ErrSizeLimitExceeded), err == nil && len(found.Entries) > 1:
		return nil, d.several()
	case err != nil:
		return nil, d.noSearch(err, d.c.Base)
	case len(found.Entries) == 0:
		return nil, noEntry()
	}
	// Binding without a DN would be anonymous, and succeed with any password.
	if dn, err := ldap.ParseDN(found.Entries[0].DN); err != nil || len(dn.RDNs) == 0 {
		return nil, d.distrust("An entry has no DN.", err)
	}
	return found.Entries[0], nil
}

func (d *Directory) seconds() int { return max(1, int(d.c.Timeout/time.Second)) }

// groups returns the groups of an entry.
func (d *Directory) groups(c *ldap.Conn, user string, e *ldap.Entry, again bool) ([]string, error) {
	names := e.GetEqualFoldAttributeValues(d.c.GroupsAttribute)
	if d.c.Groups.Base != "" {
		if again { // who is bound is the person, who may not be allowed to read groups
			if err := d.bindService(c); err != nil {
				return nil, err
			}
		}
		r := ldap.NewSearchRequest(d.c.Groups.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, maxGroups+1, d.seconds(), false,
			filled(d.c.Groups.Filter, user, e.DN), []string{d.c.Groups.Name}, nil)
		r.EnforceSizeLimit = true
		found, err := c.Search(r)
		if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
			return nil, d.noSearch(err, d.c.Groups.Base)
		}
		names = nil
		for _, g := range found.Entries {
			names = append(names, g.GetEqualFoldAttributeValues(d.c.Groups.Name)...)
		}
	}
	if len(names) > maxGroups {
		return nil, d.distrust(fmt.Sprintf("This person is in more than %d groups.", maxGroups), nil)
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = canonical(n)
	}
	return all, nil
}

// subject builds the subject of a sign-in from an entry.
func (d *Directory) subject(c *ldap.Conn, user string, e *ldap.Entry, again bool) (identity.Subject, error) {
	s := identity.Subject{How: identity.ByLDAP, Provider: d.c.Name, Label: d.c.Label, Issuer: "ldap:" + d.c.Name, ID: d.id(e),
		FullName: identity.CleanText(first(e, d.c.FullNameAttribute), maxFullName), Email: identity.CleanText(first(e, d.c.EmailAttribute), 254)}
	if s.ID == "" {
		return s, &app.Error{Code: app.ECredentials, Reason: "id", Message: d.c.Label + " doesn't show the ID of people's entries.",
			Hint: operator + "set attributes.id to an attribute that is unique and never used again, and let the bind DN read it."}
	}
	if s.Name = identity.AccountName(first(e, d.c.NameAttribute)); s.Name == "" {
		return s, &app.Error{Code: app.EForbidden, Reason: "name", Message: fmt.Sprintf("Your entry in %s has no %s that Muster can use as a user name.",
			d.c.Label, d.c.NameAttribute),
			Hint: "Ask your Muster operator to set attributes.name to an attribute that everyone has."}
	}
	groups, err := d.groups(c, user, e, again)
	s.Grants = identity.GrantsOf(d.c.Rules, d.c.Default, groups)
	return s, err
}

// id is what stays with a person when names change, and isn't given to another one.
func (d *Directory) id(e *ldap.Entry) string {
	names := idAttributes
	if d.c.IDAttribute != "" {
		names = []string{d.c.IDAttribute}
	}
	for _, n := range names {
		v := e.GetEqualFoldRawAttributeValue(n)
		switch {
		case len(v) == 0 || len(v) > maxID/2:
		case utf8.Valid(v) && !slices.ContainsFunc([]rune(string(v)), func(r rune) bool { return !unicode.IsPrint(r) }):
			return string(v)
		default:
			return fmt.Sprintf("%x", v)
		}
	}
	return ""
}

func first(e *ldap.Entry, attribute string) string {
	v := e.GetEqualFoldAttributeValue(attribute)
	if !utf8.ValidString(v) {
		return ""
	}
	return v
}
