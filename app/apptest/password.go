package apptest

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/identity"
)

// newPassword checks that a new password ends everything that the old one allowed: sign-ins, tokens, and device sign-ins that were approved but
// whose token was not fetched yet.
func (t *storeTest) newPassword() {
	a, _, boss := t.house()
	t.user(a, boss, "eve", app.RoleUser)
	_, eves, err := a.CreateToken(t.ctx, app.Actor{Tenant: tenant, User: "eve", Role: app.RoleUser, Session: "9", ProvenAt: t.clock.Now(), SeenAt: t.clock.Now()}, identity.NewAPIToken{Label: "laptop"})
	t.must(err)
	own, _, err := a.CreateUser(t.ctx, boss, identity.NewUser{Name: "ada", Role: app.RoleUser})
	t.must(err)
	local, err := a.IssueToken(t.ctx, tenant, "ada", "the server's own host")
	t.must(err)
	for _, c := range []struct {
		name  string
		renew func(ada app.Actor, password string) error
		stays bool // the sign-in that asks
	}{
		{"by an admin", func(app.Actor, string) error { return second(a.ResetUserPassword(t.ctx, boss, own.Name)) }, false},
		{"by its owner", func(ada app.Actor, password string) error {
			return a.ChangePassword(t.ctx, ada, password, "four words of mine")
		}, true},
		{"by who runs the server", func(app.Actor, string) error { return second(a.ResetPassword(t.ctx, tenant, own.Name)) }, false},
	} {
		password, err := a.ResetUserPassword(t.ctx, boss, "ada")
		t.must(err)
		in, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
		t.must(err)
		other, err := a.SignIn(t.ctx, tenant, "ada", password, app.Visit{})
		t.must(err)
		ada, err := a.ActorOfSession(t.ctx, in.ID, app.Visit{})
		t.must(err)
		ada.MustChange = false
		var tokens []string
		for _, label := range []string{"ci", "laptop"} {
			_, secret, err := a.CreateToken(t.ctx, ada, identity.NewAPIToken{Label: label, Scopes: []app.Scope{app.ScopeCluster}})
			t.must(err)
			tokens = append(tokens, secret)
		}
		codes, err := a.StartDevice(t.ctx, "a host", "muster", "192.0.2.7", nil)
		t.must(err)
		t.must(a.AnswerDevice(t.ctx, ada, codes.User, true, nil))
		t.clock.Move(time.Second)

		t.must(c.renew(ada, password))
		for _, secret := range tokens {
			if _, err := a.ActorOfToken(t.ctx, secret, ""); app.CodeOf(err) != app.EUnauthorized {
				t.Errorf("%s: a token outlived the password: %v", c.name, err)
			}
		}
		if _, _, err := a.PollDevice(t.ctx, codes.Device); err == nil {
			t.Errorf("%s: a program gets a token that was let in before", c.name)
		}
		if _, err := a.ActorOfSession(t.ctx, other.ID, app.Visit{}); app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("%s: another sign-in outlived the password: %v", c.name, err)
		}
		if _, err := a.ActorOfSession(t.ctx, in.ID, app.Visit{}); (err == nil) != c.stays {
			t.Errorf("%s: the sign-in that asked: %v", c.name, err)
		}
		deeds, _, err := a.Audit(t.ctx, boss, app.AuditFilter{Act: "token.revoke", From: t.clock.Now()})
		t.must(err)
		var revoked []string
		for _, d := range deeds {
			revoked = append(revoked, d.Object)
		}
		if slices.Sort(revoked); fmt.Sprint(revoked) != "[ci laptop]" {
			t.Errorf("%s: the audit has the ends of %v", c.name, revoked)
		}
	}
	t.must(second(a.ActorOfToken(t.ctx, eves, ""))) // another's stays
	t.must(second(a.ActorOfToken(t.ctx, local, "")))
}

// demoted takes roles away from the owner of a token with all scopes.
func (t *storeTest) demoted() {
	a, _, boss := t.house()
	t.user(a, boss, "ada", app.RoleAdmin)
	session := app.Actor{Tenant: tenant, User: "ada", Role: app.RoleAdmin, Session: "3", ProvenAt: t.clock.Now(), SeenAt: t.clock.Now()}
	_, all, err := a.CreateToken(t.ctx, session, identity.NewAPIToken{Label: "all", Scopes: []app.Scope{app.ScopeCluster, app.ScopeApprove, app.ScopeAdmin}})
	t.must(err)
	old, err := a.IssueToken(t.ctx, tenant, "ada", "without scopes")
	t.must(err)
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
		t.must(second(a.ChangeUser(t.ctx, boss, "ada", identity.UserChange{Role: &c.role})))
		for _, secret := range []string{all, old} {
			actor, err := a.ActorOfToken(t.ctx, secret, "")
			t.must(err)
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
	t.must(second(a.ChangeUser(t.ctx, boss, "ada", identity.UserChange{Disabled: &yes})))
	t.reason(second(a.ActorOfToken(t.ctx, all, "")), app.EUnauthorized, "disabled")
	t.must(a.DeleteUser(t.ctx, boss, "ada", ""))
	t.code(second(a.ActorOfToken(t.ctx, all, "")), app.EUnauthorized)
	t.user(a, boss, "ada", app.RoleAdmin) // another one of that name
	t.code(second(a.ActorOfToken(t.ctx, all, "")), app.EUnauthorized)
}
