package identity

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

// newPassword checks that a new password ends everything that the old one allowed: sign-ins, tokens, and device sign-ins that were approved but
// whose token was not fetched yet.
func (t *storeTest) newPassword() {
	a, _, boss := t.services()
	t.user(a, boss, "eve", app.RoleUser)
	_, eves, err := a.Identity.Tokens.CreateToken(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "eve", Role: app.RoleUser, Session: "9", ProvenAt: t.Clock.Now(),
		SeenAt: t.Clock.Now()}, identity.NewAPIToken{Label: "laptop"})
	t.Must(err)
	own, _, err := a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: "ada", Role: app.RoleUser})
	t.Must(err)
	local, err := a.Identity.Tokens.IssueToken(t.Ctx, kit.Tenant, "ada", "the server's own host")
	t.Must(err)
	for _, c := range []struct {
		name  string
		renew func(ada app.Actor, password string) error
		stays bool // the sign-in that asks
	}{
		{"by an admin", func(app.Actor, string) error {
			return kit.Err(a.Identity.Users.ResetUserPassword(t.Ctx, boss, own.Name))
		}, false},
		{"by its owner", func(ada app.Actor, password string) error {
			return a.Identity.Passwords.ChangePassword(t.Ctx, ada, password, "four words of mine")
		}, true},
		{"by who runs the server", func(app.Actor, string) error {
			return kit.Err(a.Identity.Passwords.ResetPassword(t.Ctx, kit.Tenant, own.Name))
		}, false},
	} {
		password, err := a.Identity.Users.ResetUserPassword(t.Ctx, boss, "ada")
		t.Must(err)
		in, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
		t.Must(err)
		other, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{})
		t.Must(err)
		ada, err := a.Identity.Sessions.ActorOfSession(t.Ctx, in.ID, identity.Visit{})
		t.Must(err)
		ada.MustChange = false
		var tokens []string
		for _, label := range []string{"ci", "laptop"} {
			_, secret, err := a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: label, Scopes: []app.Scope{app.ScopeCluster}})
			t.Must(err)
			tokens = append(tokens, secret)
		}
		codes, err := a.Identity.Devices.StartDevice(t.Ctx, "a host", "muster", "192.0.2.7", nil)
		t.Must(err)
		t.Must(a.Identity.Devices.AnswerDevice(t.Ctx, ada, codes.User, true, nil))
		t.Clock.Move(time.Second)

		t.Must(c.renew(ada, password))
		for _, secret := range tokens {
			if _, err := a.Identity.Tokens.ActorOfToken(t.Ctx, secret, ""); app.CodeOf(err) != app.EUnauthorized {
				t.Errorf("%s: a token outlived the password: %v", c.name, err)
			}
		}
		if _, _, err := a.Identity.Devices.PollDevice(t.Ctx, codes.Device); err == nil {
			t.Errorf("%s: a program gets a token that was let in before", c.name)
		}
		if _, err := a.Identity.Sessions.ActorOfSession(t.Ctx, other.ID, identity.Visit{}); app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("%s: another sign-in outlived the password: %v", c.name, err)
		}
		if _, err := a.Identity.Sessions.ActorOfSession(t.Ctx, in.ID, identity.Visit{}); (err == nil) != c.stays {
			t.Errorf("%s: the sign-in that asked: %v", c.name, err)
		}
		entries, _, err := a.Identity.AuditLog.Audit(t.Ctx, boss, app.AuditFilter{Act: "token.revoke", From: t.Clock.Now()})
		t.Must(err)
		var revoked []string
		for _, d := range entries {
			revoked = append(revoked, d.Object)
		}
		if slices.Sort(revoked); fmt.Sprint(revoked) != "[ci laptop]" {
			t.Errorf("%s: the audit has the ends of %v", c.name, revoked)
		}
	}
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, eves, ""))) // another's stays
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, local, "")))
}

// demoted takes roles away from the owner of a token with all scopes.
func (t *storeTest) demoted() {
	a, _, boss := t.services()
	t.user(a, boss, "ada", app.RoleAdmin)
	session := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleAdmin, Session: "3", ProvenAt: t.Clock.Now(), SeenAt: t.Clock.Now()}
	_, all, err := a.Identity.Tokens.CreateToken(t.Ctx, session,
		identity.NewAPIToken{Label: "all", Scopes: []app.Scope{app.ScopeCluster, app.ScopeApprove, app.ScopeAdmin}})
	t.Must(err)
	old, err := a.Identity.Tokens.IssueToken(t.Ctx, kit.Tenant, "ada", "without scopes")
	t.Must(err)
	for _, c := range []struct {
		role app.Role
		may  []string
		no   []string
	}{
		{app.RoleAdmin, []string{"SetSecret", "Review", "CreateCluster"}, nil},
		{app.RoleApprover, []string{"Review", "CreateCluster"}, []string{"SetSecret", "CreateUser", "ChangeUser"}},
		{app.RoleUser, []string{"CreateCluster"}, []string{"SetSecret", "CreateUser", "ResetUserPassword"}},
		{app.RoleViewer, []string{"Request"}, []string{"SetSecret", "CreateUser", "Review", "CreateCluster", "DeleteCluster"}},
	} {
		t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Role: &c.role})))
		for _, secret := range []string{all, old} {
			actor, err := a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "")
			t.Must(err)
			if actor.Role != c.role {
				t.Errorf("the token of a %s acts as %s", c.role, actor.Role)
			}
			for _, what := range c.may {
				if !actor.May(what) {
					t.Errorf("as %s the token may not %s", c.role, what)
				}
			}
			for _, what := range c.no {
				if actor.May(what) {
					t.Errorf("as %s the token may %s", c.role, what)
				}
			}
		}
	}
	yes := true
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Disabled: &yes})))
	t.reason(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, all, "")), app.EUnauthorized, "disabled")
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", ""))
	t.Code(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, all, "")), app.EUnauthorized)
	t.user(a, boss, "ada", app.RoleAdmin) // another one of that name
	t.Code(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, all, "")), app.EUnauthorized)
}
