package oidc

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
)

// Config is one identity provider. Name, Issuer, ClientID, RedirectURL and at least one rule or a default are required.
type Config struct {
	Name         string // part of the redirect address registered at the provider
	Label        string // display name; "": the name
	Issuer       string
	ClientID     string
	ClientSecret string   // "": a public client, which PKCE alone protects
	Scopes       []string // beside openid; nil: profile and email
	// The claims about the person. Dots lead into objects, as in realm_access.roles.
	NameClaim   string // "": preferred_username
	EmailClaim  string // "": email; believed only where email_verified is true
	GroupsClaim string // "": groups
	Rules       []Rule
	Default     *identity.Grant // for people without a matching rule; nil refuses them
	// RedirectURL is where browsers return to, HomeURL where they go after signing out at the provider.
	RedirectURL, HomeURL string
	HTTP                 *http.Client     // nil: one with a timeout of 10 s
	Now                  func() time.Time // nil: time.Now
}

// Rule grants a role to members of a group at the provider.
type Rule struct {
	Group string
	Grant identity.Grant
}

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

const ruleForm = "Use GROUP -> TENANT:ROLE, or GROUP -> TENANT:ROLE:GROUP,GROUP to add Muster groups."

// ParseRule parses a rule such as "admins -> acme:admin" or "dev team -> acme:user:builders,ops".
func ParseRule(text string) (Rule, error) {
	group, grant, ok := strings.Cut(text, "->")
	if group = strings.TrimSpace(group); !ok || group == "" {
		return Rule{}, &app.Error{Code: app.EInvalid, Field: "rules", Message: fmt.Sprintf("Invalid rule %q.", text), Hint: ruleForm}
	}
	g, err := ParseGrant(grant)
	return Rule{group, g}, err
}

// ParseGrant parses the part after the arrow of a rule, such as "acme:admin".
func ParseGrant(text string) (identity.Grant, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	bad := func(message string) (identity.Grant, error) { //nolint:unparam // its callers return both
		return identity.Grant{}, &app.Error{Code: app.EInvalid, Field: "rules", Message: message, Hint: ruleForm}
	}
	if len(parts) < 2 || len(parts) > 3 || strings.TrimSpace(parts[0]) == "" {
		return bad(fmt.Sprintf("%q must have a tenant and a role.", strings.TrimSpace(text)))
	}
	g := identity.Grant{Tenant: strings.TrimSpace(parts[0]), Role: app.Role(strings.TrimSpace(parts[1]))}
	switch {
	case !g.Role.Known():
		return bad(fmt.Sprintf("Unknown role %q.", g.Role))
	case g.Role == app.RoleRobot:
		return bad("Robot accounts can't sign in.")
	case g.Role == app.RoleSuperadmin && g.Tenant != app.DefaultTenant:
		return bad(fmt.Sprintf("Superadmins must be in tenant %q.", app.DefaultTenant))
	}
	if len(parts) == 3 {
		for name := range strings.SplitSeq(parts[2], ",") {
			if name = strings.TrimSpace(name); name == "" {
				return bad(fmt.Sprintf("Empty group name in %q.", strings.TrimSpace(text)))
			}
			g.Groups = append(g.Groups, name)
		}
		slices.Sort(g.Groups)
		g.Groups = slices.Compact(g.Groups)
	}
	return g, nil
}

// check validates the settings of a provider.
func (c Config) check() error {
	bad := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("identity provider %q: %s", c.Name, message), Hint: hint}
	}
	switch {
	case !providerName.MatchString(c.Name) || c.Name == "tenant":
		return bad("name", "the name must be 1–31 lowercase letters, digits and '-', and can't be \"tenant\".", "Choose a name that fits in web addresses.")
	case c.ClientID == "":
		return bad("client_id", "a client ID is required.", "Register Muster at the provider to get one.")
	case len(c.Rules) == 0 && c.Default == nil:
		return bad("rules", "a rule or a default is required.", ruleForm)
	}
	if err := safeURL(c.Issuer); err != nil {
		return bad("issuer", err.Error(), "Set the address that has .well-known/openid-configuration below it.")
	}
	if err := safeURL(c.RedirectURL); err != nil {
		return bad("url", "redirect address: "+err.Error(), "Set the portal's address with --public-url https://….")
	}
	return nil
}

// safeURL accepts only addresses safe from tampering: https, or this host.
func safeURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q isn't an address such as https://sso.example.org", text)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()):
		return nil
	}
	return fmt.Errorf("%q must start with https://", text)
}

// grants returns the grants of a person's groups, one per tenant: the most powerful role, and all groups together.
func (c Config) grants(groups []string) []identity.Grant {
	by := map[string]identity.Grant{}
	for _, r := range c.Rules {
		if !slices.Contains(groups, r.Group) {
			continue
		}
		g, ok := by[r.Grant.Tenant]
		if !ok || slices.Index(app.Roles, r.Grant.Role) < slices.Index(app.Roles, g.Role) {
			g.Role = r.Grant.Role
		}
		g.Tenant = r.Grant.Tenant
		g.Groups = append(slices.Clone(g.Groups), r.Grant.Groups...)
		by[g.Tenant] = g
	}
	if len(by) == 0 && c.Default != nil {
		by[c.Default.Tenant] = *c.Default
	}
	all := make([]identity.Grant, 0, len(by))
	for _, g := range by {
		slices.Sort(g.Groups)
		g.Groups = slices.Compact(g.Groups)
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b identity.Grant) int { return strings.Compare(a.Tenant, b.Tenant) })
	return all
}
