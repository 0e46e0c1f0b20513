package oidc

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
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
	Rules       []identity.GrantRule
	Default     *identity.Grant // for people without a matching rule; nil refuses them
	// RedirectURL is where browsers return to, HomeURL where they go after signing out at the provider.
	RedirectURL, HomeURL string
	HTTP                 *http.Client     // nil: one with a timeout of 10 s
	Now                  func() time.Time // nil: time.Now
}

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

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
		return bad("rules", "a rule or a default is required.", identity.GrantRuleForm)
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
