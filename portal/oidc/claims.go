package oidc

import (
	"fmt"
	"strings"

	"muster/app/identity"
)

const (
	maxGroups   = 2000
	maxFullName = 200
	maxName     = 63
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
	s := identity.Subject{Provider: c.Name, Label: c.Label, Issuer: c.Issuer, ID: id, FullName: clean(of.text("name"), maxFullName)}
	if of.yes("email_verified") {
		s.Email = clean(of.text(c.EmailClaim), 254)
	}
	name := of.text(c.NameClaim)
	if name == "" {
		name = s.Email
	}
	if name == "" {
		name = id
	}
	name, _, _ = strings.Cut(name, "@")
	if s.Name = accountName(name); s.Name == "" {
		return s, fmt.Errorf("the claim %s has no usable account name: %q", c.NameClaim, name)
	}
	groups, err := of.list(c.GroupsClaim)
	s.Grants = c.grants(groups)
	return s, err
}

// accountName turns a name into an account name: lowercase letters, digits, dots, underscores and hyphens.
func accountName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	s := strings.TrimLeft(b.String(), "-._")
	return strings.TrimRight(s[:min(len(s), maxName)], "-._")
}

// clean removes control and invisible characters from a text, and cuts it.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return strings.ToValidUTF8(s, "")
}
