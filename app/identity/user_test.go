package identity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/identity"
)

func TestPermissionsOfPeople(t *testing.T) {
	one := app.Actor{Tenant: "t", User: "new", Role: app.RoleAdmin, MustChange: true}
	for _, p := range app.Permissions() {
		// Who has a one-time password may manage the own account, and nothing else.
		if got, want := one.May(p.UseCase), p.Scope == app.ScopeAccount && p.Reach[app.RoleAdmin] != app.ReachNone; got != want {
			t.Errorf("with a one-time password %s: %v", p.UseCase, got)
		}
		// No scoped token makes or revokes tokens, or manages an account.
		token := app.Actor{Tenant: "t", User: "ci", Role: app.RoleSuperadmin, Token: "x", Scopes: app.TokenScopes}
		if (p.Scope == app.ScopeTokens || p.Scope == app.ScopeAccount) && token.May(p.UseCase) {
			t.Errorf("a token may %s", p.UseCase)
		}
	}
	for _, c := range []struct {
		role app.Role
		want string
	}{
		{app.RoleSuperadmin, "read cluster approve admin"}, {app.RoleAdmin, "read cluster approve admin"}, {app.RoleRobot, "read cluster"},
	} {
		var words []string
		for _, s := range identity.ScopesOf(c.role) {
			words = append(words, string(s))
		}
		if strings.Join(words, " ") != c.want {
			t.Errorf("a %s's token may have %v, want %s", c.role, words, c.want)
		}
	}
}

func TestWhoChangesWhichAccount(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	many := identity.Others{Superadmins: 2, Admins: 2}
	for _, by := range app.Roles {
		for _, of := range app.Roles {
			who := app.Actor{Tenant: app.DefaultTenant, User: "who", Role: by}
			u := identity.User{Tenant: app.DefaultTenant, Name: "whom", Role: of}
			mightier := slices.Index(app.Roles, of) < slices.Index(app.Roles, by)
			if err := u.MayManage(who); (err != nil) != mightier {
				t.Errorf("%s manages %s: %v", by, of, err)
			}
			for _, to := range app.Roles {
				after, err := identity.UserChange{Role: &to}.Apply(who, u, many, now)
				above := slices.Index(app.Roles, to) < slices.Index(app.Roles, by)
				robot := (to == app.RoleRobot) != (of == app.RoleRobot)
				switch {
				case to == of && !mightier:
					if err != nil {
						t.Errorf("%s leaves %s as it is: %v", by, of, err)
					}
				case mightier || above:
					if app.CodeOf(err) != app.EForbidden {
						t.Errorf("%s makes %s a %s: %v", by, of, to, err)
					}
				case robot:
					if app.CodeOf(err) != app.EConflict {
						t.Errorf("%s makes %s a %s: %v", by, of, to, err)
					}
				case err != nil || after.Role != to:
					t.Errorf("%s makes %s a %s: %v", by, of, to, err)
				}
			}
			// With scopes, accounts of admins are out of reach.
			who.Token, who.Scopes = "x", []app.Scope{app.ScopeRead, app.ScopeAdmin}
			if err := u.MayManage(who); (err == nil) != (!mightier && of != app.RoleSuperadmin && of != app.RoleAdmin) {
				t.Errorf("a token of a %s manages %s: %v", by, of, err)
			}
		}
	}
}

func TestNamesOfTenantsAndUsers(t *testing.T) {
	a := all.New(all.Config{Store: nil, Now: time.Now})
	root := app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
	for _, name := range []string{"", "Blue", "1blue", "blue-", "-blue", "a.b", "ä", "blue_team", strings.Repeat("x", 64), "system", "all", "a/b", "a b"} {
		_, _, err := a.Identity.Tenants.CreateTenant(t.Context(), root, identity.NewTenant{Name: name})
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "name" {
			t.Errorf("a tenant %q: %v", name, err)
		}
		if name == "1blue" || name == "blue-" || name == "a.b" || name == "blue_team" {
			continue // users may be called so
		}
		_, _, err = a.Identity.Users.CreateUser(t.Context(), root, identity.NewUser{Name: name, Role: app.RoleUser})
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "name" {
			t.Errorf("a user %q: %v", name, err)
		}
	}
	for name, n := range map[string]identity.NewUser{
		"email":     {Name: "ada", Role: app.RoleUser, Email: "Ada <ada@example.com>"},
		"role":      {Name: "ada", Role: "king"},
		"full_name": {Name: "ada", Role: app.RoleUser, FullName: "Ada\nLovelace"},
	} {
		_, _, err := a.Identity.Users.CreateUser(t.Context(), root, n)
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != name {
			t.Errorf("%s: %v (%s)", name, err, e.Field)
		}
	}
	elsewhere := app.Actor{Tenant: "blue", Home: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
	_, _, err := a.Identity.Users.CreateUser(t.Context(), elsewhere, identity.NewUser{Name: "ada", Role: app.RoleSuperadmin})
	if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "role" {
		t.Errorf("a superadmin outside of default: %v", err)
	}
}
