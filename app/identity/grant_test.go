package identity

import (
	"fmt"
	"strings"
	"testing"

	"muster/app"

	"pgregory.net/rapid"
)

func TestRules(t *testing.T) {
	for text, want := range map[string]string{
		"admins -> acme:admin":                 "admins {acme admin []}",
		"  dev team->acme:user:ops, builders ": "dev team {acme user [builders ops]}",
		"cn=x,ou=y -> default:superadmin":      "cn=x,ou=y {default superadmin []}",
		"a -> acme:superadmin":                 `Superadmins must be in tenant "default".`,
		"a -> acme:robot":                      "Robot accounts can't sign in.",
		"a -> acme:king":                       `Unknown role "king".`,
		"a -> acme":                            `"acme" must have a tenant and a role.`,
		"-> acme:user":                         `Invalid rule "-> acme:user".`,
		"admins acme:user":                     `Invalid rule "admins acme:user".`,
		"a -> acme:user:":                      `Empty group name in "acme:user:".`,
		"a -> :user":                           `":user" must have a tenant and a role.`,
	} {
		r, err := ParseGrantRule(text)
		got := fmt.Sprint(r.Group, " ", r.Grant)
		if err != nil {
			got = app.AsError(err).Message
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestGrants checks with any rules and groups that grants come from matching rules only.
func TestGrants(t *testing.T) {
	roles := []app.Role{app.RoleAdmin, app.RoleApprover, app.RoleUser, app.RoleViewer}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		var rules []GrantRule
		for range rapid.IntRange(0, 6).Draw(t, "rules") {
			rules = append(rules, GrantRule{name.Draw(t, "group"), Grant{Tenant: name.Draw(t, "tenant"), Role: rapid.SampledFrom(roles).Draw(t, "role"),
				Groups: rapid.SliceOfN(name, 0, 3).Draw(t, "to")}})
		}
		groups := rapid.SliceOfN(name, 0, 4).Draw(t, "groups")
		in := " " + strings.Join(groups, " ") + " "
		got := GrantsOf(rules, nil, groups)
		for i, g := range got {
			if i > 0 && got[i-1].Tenant >= g.Tenant {
				t.Fatalf("tenants are out of order or duplicated: %v", got)
			}
			role, mightier, all := false, false, map[string]bool{}
			for _, r := range rules {
				if r.Grant.Tenant != g.Tenant || !strings.Contains(in, " "+r.Group+" ") {
					continue
				}
				role = role || r.Grant.Role == g.Role
				mightier = mightier || strings.Index(fmt.Sprint(roles), string(r.Grant.Role)) < strings.Index(fmt.Sprint(roles), string(g.Role))
				for _, n := range r.Grant.Groups {
					all[n] = true
				}
			}
			if !role || mightier || len(all) != len(g.Groups) {
				t.Fatalf("groups %v and rules %v: got %v", groups, rules, g)
			}
		}
		for _, r := range rules {
			if strings.Contains(in, " "+r.Group+" ") && !strings.Contains(fmt.Sprint(got), "{"+r.Grant.Tenant+" ") {
				t.Fatalf("the rule %v is missing in %v", r, got)
			}
		}
	})
}

func TestAccountNames(t *testing.T) {
	for name, want := range map[string]string{"Ada Lovelace": "ada-lovelace", "ADA": "ada", "..x": "x", "ä": "",
		strings.Repeat("a", 100): strings.Repeat("a", 63), "o'neil": "o-neil", "ada@acme.example": "ada", "@": ""} {
		if got := AccountName(name); got != want {
			t.Errorf("%q: got account %q, want %q", name, got, want)
		}
	}
}
