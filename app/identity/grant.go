package identity

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
)

// GrantRule grants a role to members of a group at an identity provider or in a directory.
type GrantRule struct {
	Group string
	Grant Grant
}

// GrantRuleForm says how rules are written.
const GrantRuleForm = "Use GROUP -> TENANT:ROLE, or GROUP -> TENANT:ROLE:GROUP,GROUP to add Muster groups."

const maxAccountName = 63

// ParseGrantRule parses a rule such as "admins -> acme:admin" or "dev team -> acme:user:builders,ops".
func ParseGrantRule(text string) (GrantRule, error) {
	group, grant, ok := strings.Cut(text, "->")
	if group = strings.TrimSpace(group); !ok || group == "" {
		return GrantRule{}, &app.Error{Code: app.EInvalid, Field: "rules", Message: fmt.Sprintf("Invalid rule %q.", text), Hint: GrantRuleForm}
	}
	g, err := ParseGrant(grant)
	return GrantRule{group, g}, err
}

// ParseGrant parses the part after the arrow of a rule, such as "acme:admin".
func ParseGrant(text string) (Grant, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	bad := func(message string) (Grant, error) { //nolint:unparam // its callers return both
		return Grant{}, &app.Error{Code: app.EInvalid, Field: "rules", Message: message, Hint: GrantRuleForm}
	}
	if len(parts) < 2 || len(parts) > 3 || strings.TrimSpace(parts[0]) == "" {
		return bad(fmt.Sprintf("%q must have a tenant and a role.", strings.TrimSpace(text)))
	}
	g := Grant{Tenant: strings.TrimSpace(parts[0]), Role: app.Role(strings.TrimSpace(parts[1]))}
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

// GrantsOf returns the grants of a person's groups, one per tenant: the most powerful role, and all groups together. Without a matching rule, it's
// the fallback, which may be nil.
func GrantsOf(rules []GrantRule, fallback *Grant, groups []string) []Grant {
	by := map[string]Grant{}
	for _, r := range rules {
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
	if len(by) == 0 && fallback != nil {
		by[fallback.Tenant] = *fallback
	}
	all := make([]Grant, 0, len(by))
	for _, g := range by {
		slices.Sort(g.Groups)
		g.Groups = slices.Compact(g.Groups)
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Grant) int { return strings.Compare(a.Tenant, b.Tenant) })
	return all
}

// AccountName turns a name elsewhere into an account name: lowercase letters, digits, dots, underscores and hyphens; of an address, the part before
// the @. It is "" where nothing is left.
func AccountName(name string) string {
	name, _, _ = strings.Cut(name, "@")
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
	return strings.TrimRight(s[:min(len(s), maxAccountName)], "-._")
}

// CleanText removes control and invisible characters from a text from elsewhere, and cuts it.
func CleanText(s string, most int) string {
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
