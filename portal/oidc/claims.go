package oidc

import (
	"fmt"
	"strings"

	"muster/app/identity"
)

const (
	maxGroups   = 2000
	maxFullName = 200
)

// claims are a provider's claims about a person.
type claims map[string]any

// at finds a claim by its name, or else by a path of names separated by dots.
func (c claims) at(path string) (any, bool) {
	if v, ok := c[path]; ok {
		return v, true
	}
	first, rest, ok := strings.Cut(path, ".")
	if !ok {
		return nil, false
	}
	inner, ok := c[first].(map[string]any)
	if !ok {
		return nil, false
	}
	return claims(inner).at(rest)
}

func (c claims) text(path string) string {
	v, _ := c.at(path)
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

// yes reads a boolean, which some providers send as a string.
func (c claims) yes(path string) bool {
	switch v, _ := c.at(path); v := v.(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// list reads a list of strings, or a single string.
func (c claims) list(path string) ([]string, error) {
	v, ok := c.at(path)
	if !ok || v == nil {
		return nil, nil
	}
	if s, ok := v.(string); ok {
		return []string{s}, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("the claim %s is neither a list nor a string", path)
	}
	if len(items) > maxGroups {
		return nil, fmt.Errorf("the claim %s has more than %d entries", path, maxGroups)
	}
	var out []string
	for _, i := range items {
		if s, ok := i.(string); ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// subject builds the subject of a sign-in. The account gets the person's name at the provider; of an address, the part before the @.
func (c Config) subject(id string, of claims) (identity.Subject, error) {
	s := identity.Subject{Provider: c.Name, Label: c.Label, Issuer: c.Issuer, ID: id, FullName: identity.CleanText(of.text("name"), maxFullName)}
	if of.yes("email_verified") {
		s.Email = identity.CleanText(of.text(c.EmailClaim), 254)
	}
	name := of.text(c.NameClaim)
	if name == "" {
		name = s.Email
	}
	if name == "" {
		name = id
	}
	if s.Name = identity.AccountName(name); s.Name == "" {
		return s, fmt.Errorf("the claim %s has no usable account name: %q", c.NameClaim, name)
	}
	groups, err := of.list(c.GroupsClaim)
	s.Grants = identity.GrantsOf(c.Rules, c.Default, groups)
	return s, err
}
