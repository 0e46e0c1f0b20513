package ldap

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"

	"github.com/go-ldap/ldap/v3"
)

// Config is one directory. Name, URL, Base and at least one rule or a default are required.
type Config struct {
	Name  string // in settings, and of the source of accounts
	Label string // display name; "": the name
	URL   string // ldaps://HOST, or ldap://HOST with StartTLS
	// Roots are the CAs that the server's certificate may be from; nil: the system's.
	Roots *x509.CertPool
	// Plain switches StartTLS off, for a server on this host.
	Plain bool
	// BindDN and BindPassword are of the account that finds people; "": searches are anonymous.
	BindDN, BindPassword string
	Base                 string // people are below it
	Filter               string // with {user}; "": (uid={user})
	// Attributes of people.
	IDAttribute       string // unique, and never used again; "": the first of entryUUID, objectGUID, nsUniqueId and ipaUniqueID
	NameAttribute     string // "": uid
	FullNameAttribute string // "": cn
	EmailAttribute    string // "": mail
	GroupsAttribute   string // "": memberOf
	// Groups finds them where people's entries don't list them.
	Groups  GroupSearch
	Rules   []identity.GrantRule
	Default *identity.Grant // for people without a matching rule; nil refuses them
	Timeout time.Duration   // of a sign-in; 0: DefaultTimeout
}

// GroupSearch finds groups by their members.
type GroupSearch struct {
	Base   string // "": groups are an attribute of people
	Filter string // with {dn} or {user}; "": (member={dn})
	Name   string // attribute that rules name; "": cn
}

// Limits of a sign-in.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = time.Minute
	maxGroups      = 2000
	maxFullName    = 200
	maxID          = 255
	maxUser        = 128
	maxPassword    = 1024
)

var (
	directoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)
	attributeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.;-]{0,63}$`)
)

// idAttributes are those of servers that people have.
var idAttributes = []string{"entryUUID", "objectGUID", "nsUniqueId", "ipaUniqueID"}

func (c Config) withDefaults() Config {
	for to, fallback := range map[*string]string{&c.Label: c.Name, &c.Filter: "(uid={user})", &c.NameAttribute: "uid", &c.FullNameAttribute: "cn",
		&c.EmailAttribute: "mail", &c.GroupsAttribute: "memberOf", &c.Groups.Filter: "(member={dn})", &c.Groups.Name: "cn"} {
		if *to == "" {
			*to = fallback
		}
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	rules := slices.Clone(c.Rules)
	for i := range rules {
		rules[i].Group = canonical(rules[i].Group)
	}
	c.Rules = rules
	return c
}

// check validates the settings of a directory with its defaults.
func (c Config) check() error {
	bad := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("directory %q: %s", c.Name, message), Hint: hint}
	}
	_, baseErr := ldap.ParseDN(c.Base)
	_, bindErr := ldap.ParseDN(c.BindDN)
	_, groupsErr := ldap.ParseDN(c.Groups.Base)
	switch {
	case !directoryName.MatchString(c.Name) || c.Name == "tenant":
		return bad("name", "the name must be 1–31 lowercase letters, digits and '-', and can't be \"tenant\".", "")
	case len(c.Rules) == 0 && c.Default == nil:
		return bad("rules", "a rule or a default is required.", identity.GrantRuleForm)
	case c.Base == "" || baseErr != nil:
		return bad("base", fmt.Sprintf("base %q isn't a DN.", c.Base), "For example: ou=people,dc=example,dc=org")
	case groupsErr != nil:
		return bad("groups", fmt.Sprintf("groups: base %q isn't a DN.", c.Groups.Base), "For example: ou=groups,dc=example,dc=org")
	case (c.BindDN == "") != (c.BindPassword == ""):
		// A name without a password would be an anonymous bind that looks like an authenticated one.
		return bad("bind_dn", "bind_dn and its password require each other.", "Leave out both for anonymous searches.")
	case strings.ContainsRune(c.BindDN, '@'): // a user principal name, as Active Directory has them
	case bindErr != nil:
		return bad("bind_dn", fmt.Sprintf("bind_dn %q isn't a DN.", c.BindDN), "For example: cn=muster,ou=services,dc=example,dc=org")
	}
	if c.Timeout < time.Second || c.Timeout > MaxTimeout {
		return bad("timeout", "timeout must be between 1s and 1m.", "")
	}
	if !strings.Contains(c.Filter, "{user}") {
		return bad("filter", "the filter must contain {user}.", "For example: (&(objectClass=person)(uid={user}))")
	}
	if _, err := ldap.CompileFilter(filled(c.Filter, "x", "")); err != nil {
		return bad("filter", fmt.Sprintf("the filter %q is invalid.", c.Filter), "For example: (&(objectClass=person)(uid={user}))")
	}
	if !strings.Contains(c.Groups.Filter, "{dn}") && !strings.Contains(c.Groups.Filter, "{user}") {
		return bad("groups", "the filter of groups must contain {dn} or {user}.", "For example: (member={dn}), or (memberUid={user})")
	}
	if _, err := ldap.CompileFilter(filled(c.Groups.Filter, "x", "cn=x")); err != nil {
		return bad("groups", fmt.Sprintf("the filter of groups %q is invalid.", c.Groups.Filter), "For example: (member={dn})")
	}
	for _, a := range append(c.attributes(), c.Groups.Name) {
		if !attributeName.MatchString(a) {
			return bad("attributes", fmt.Sprintf("%q isn't the name of an attribute.", a), "")
		}
	}
	return c.checkURL(bad)
}

func (c Config) checkURL(bad func(field, message, hint string) error) error {
	u, err := url.Parse(c.URL)
	const example = "For example: ldaps://ldap.example.org, or ldap://ldap.example.org for StartTLS."
	if err != nil || u.Scheme != "ldaps" && u.Scheme != "ldap" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return bad("url", fmt.Sprintf("url %q isn't the address of an LDAP server.", c.URL), example)
	}
	if c.Plain && u.Scheme == "ldap" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback() {
		return bad("start_tls", "start_tls: false is possible only for a server on this host.", "Passwords would be readable in the network.")
	}
	return nil
}

// attributes are those to ask for of a person.
func (c Config) attributes() []string {
	ids := idAttributes
	if c.IDAttribute != "" {
		ids = []string{c.IDAttribute}
	}
	return append(slices.Clone(ids), c.NameAttribute, c.FullNameAttribute, c.EmailAttribute, c.GroupsAttribute)
}

// filled is a filter with a person's name and DN in it, escaped.
func filled(filter, user, dn string) string {
	return strings.NewReplacer("{user}", ldap.EscapeFilter(user), "{dn}", ldap.EscapeFilter(dn)).Replace(filter)
}

// canonical is the form in which groups are compared: as directories do it, without regard to case, and for DNs also to spaces.
func canonical(group string) string {
	if dn, err := ldap.ParseDN(group); err == nil && len(dn.RDNs) > 0 {
		group = dn.String()
	}
	return strings.ToLower(strings.TrimSpace(group))
}
