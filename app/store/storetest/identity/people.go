package identity

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// services are the use cases on top of the store, with people who ask.
func (t *storeTest) services() (a *appall.Services, root, boss app.Actor) {
	t.Helper()
	a = appall.New(appall.Config{Store: t.Store, Now: t.Clock.Now})
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: app.DefaultTenant, Name: "root", Role: app.RoleSuperadmin, PasswordHash: "x", CreatedAt: t.Clock.Now()}))
	root = app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin, Session: "1", ProvenAt: t.Clock.Now(), SeenAt: t.Clock.Now()}
	_, _, err := a.Identity.Tenants.CreateTenant(t.Ctx, root, identity.NewTenant{Name: kit.Tenant, About: "the first", Slots: 3,
		Admin: &identity.NewUser{Name: "boss", Email: "boss@example.com"}})
	t.Must(err)
	return a, root, app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin, Session: "2", ProvenAt: t.Clock.Now(), SeenAt: t.Clock.Now()}
}

func (t *storeTest) user(a *appall.Services, by app.Actor, name string, r app.Role, groups ...string) identity.UserView {
	t.Helper()
	v, _, err := a.Identity.Users.CreateUser(t.Ctx, by, identity.NewUser{Name: name, Role: r, Groups: groups})
	t.Must(err)
	return v
}

// reason checks an error's code and finer kind.
func (t *storeTest) reason(err error, code app.Code, reason string) {
	t.Helper()
	if app.CodeOf(err) != code || reason != "" && app.AsError(err).Reason != reason {
		t.Errorf("%v (%s, %s), want %s, %s", err, app.CodeOf(err), app.AsError(err).Reason, code, reason)
	}
}

// accounts of people: made, changed, disabled, handed over, deleted.
func (t *storeTest) accountsOfPeople() {
	a, root, boss := t.services()
	t.Must(kit.Err(a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "data"})))
	ada, password, err := a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: "ada", Role: app.RoleUser, Groups: []string{"data"}})
	t.Must(err)
	if !ada.MustChange || ada.CreatedBy != "boss" || fmt.Sprint(ada.Groups) != "[data]" {
		t.Errorf("made: %+v", ada)
	}
	_, _, err = a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: "ada", Role: app.RoleUser})
	t.reason(err, app.EConflict, "")
	_, _, err = a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: "eve", Role: app.RoleUser, Groups: []string{"none"}})
	if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "groups" {
		t.Errorf("a group that is not there: %v", err)
	}
	_, err = t.Store.User(t.Ctx, kit.Tenant, "eve")
	t.Code(err, app.ENotFound)
	_, _, err = a.Identity.Users.CreateUser(t.Ctx, boss, identity.NewUser{Name: "eve", Role: app.RoleSuperadmin})
	t.reason(err, app.EForbidden, "role")

	// A change counts at the next request.
	in, err := a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{From: "192.0.2.7"})
	t.Must(err)
	signedIn := func() (app.Actor, error) {
		return a.Identity.Sessions.ActorOfSession(t.Ctx, in.ID, identity.Visit{From: "192.0.2.7"})
	}
	t.Clock.Move(time.Hour)
	actor, err := signedIn()
	t.Must(err)
	if want := (app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Groups: []string{"data"}, MustChange: true, Via: app.ViaPortal, From: "192.0.2.7",
		Session: strconv.FormatInt(in.ID, 10), ProvenAt: actor.ProvenAt, SeenAt: t.Clock.Now()}); !reflect.DeepEqual(actor, want) {
		t.Errorf("actor %+v, want %+v", actor, want)
	}
	role, yes, no := app.RoleApprover, true, false
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Role: &role, Groups: &[]string{}})))
	if actor, err = signedIn(); err != nil || actor.Role != app.RoleApprover || len(actor.Groups) != 0 {
		t.Errorf("after the change: %+v (%v)", actor, err)
	}
	v, err := a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Disabled: &yes})
	t.Must(err)
	if !v.DisabledAt.Equal(t.Clock.Now()) || !v.SeenAt.Equal(t.Clock.Now()) {
		t.Errorf("disabled %s, seen %s, want %s", v.DisabledAt, v.SeenAt, t.Clock.Now())
	}
	_, err = signedIn()
	t.reason(err, app.EUnauthorized, "disabled")
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ada", identity.UserChange{Disabled: &no})))
	// What was ended with the account doesn't come back with it.
	_, err = signedIn()
	t.reason(err, app.EUnauthorized, "revoked")
	in, err = a.Identity.SignIns.SignIn(t.Ctx, kit.Tenant, "ada", password, identity.Visit{From: "192.0.2.7"})
	t.Must(err)
	t.Must(kit.Err(signedIn()))

	// Admins of other tenants, and of the installation's own, have nothing to say here.
	other := app.Actor{Tenant: "t2", User: "boss", Role: app.RoleAdmin}
	_, err = a.Identity.Users.ChangeUser(t.Ctx, other, "ada", identity.UserChange{Disabled: &yes})
	t.Code(err, app.ENotFound)
	_, err = a.Identity.Users.ResetUserPassword(t.Ctx, app.Actor{Tenant: app.DefaultTenant, User: "low", Role: app.RoleAdmin}, "root")
	t.reason(err, app.EForbidden, "role")

	// Who owns live clusters stays, until someone gets them.
	t.Create("web", 1)
	err = a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", "")
	t.reason(err, app.EConflict, "owns_clusters")
	if !strings.Contains(err.Error(), "ada still owns 1 cluster: web.") {
		t.Errorf("%v", err)
	}
	t.user(a, boss, "vera", app.RoleViewer)
	t.reason(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", "vera"), app.EConflict, "")
	t.Code(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", "no.such.user"), app.EInvalid)
	t.Code(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", "ada"), app.EInvalid)
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "ada", "boss"))
	if c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1"); err != nil || c.Owner != "boss" {
		t.Errorf("the cluster is %s's (%v)", c.Owner, err)
	}
	_, err = signedIn()
	t.reason(err, app.EUnauthorized, "account_gone")

	// Search and pages.
	for i := range 5 {
		t.user(a, boss, fmt.Sprintf("u%d", i), app.RoleUser)
	}
	name := "100%_Lovelace"
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "u3", identity.UserChange{FullName: &name})))
	for _, c := range []struct {
		f    identity.UserFilter
		want string
		more bool
	}{
		{identity.UserFilter{}, "boss u0 u1 u2 u3 u4 vera", false},
		{identity.UserFilter{Limit: 3}, "boss u0 u1", true},
		{identity.UserFilter{Limit: 3, After: "u1"}, "u2 u3 u4", true},
		{identity.UserFilter{Limit: 3, After: "u4"}, "vera", false},
		{identity.UserFilter{Search: "lovelace"}, "u3", false},
		{identity.UserFilter{Search: "%_"}, "u3", false},
		{identity.UserFilter{Search: "BOSS@"}, "boss", false},
		{identity.UserFilter{Role: app.RoleViewer}, "vera", false},
	} {
		users, more, err := a.Identity.Users.Users(t.Ctx, boss, c.f)
		t.Must(err)
		var names []string
		for _, u := range users {
			names = append(names, u.Name)
		}
		if strings.Join(names, " ") != c.want || more != c.more {
			t.Errorf("%+v: %v %v, want %s %v", c.f, names, more, c.want, c.more)
		}
	}
	_ = root
}

// lastAdmins: no one takes away the last who could give it back.
func (t *storeTest) lastAdmins() {
	a, root, boss := t.services()
	yes, user, admin := true, app.RoleUser, app.RoleAdmin
	takeAway := map[string]func(by app.Actor, name string) error{
		"disable": func(by app.Actor, name string) error {
			return kit.Err(a.Identity.Users.ChangeUser(t.Ctx, by, name, identity.UserChange{Disabled: &yes}))
		},
		"demote": func(by app.Actor, name string) error {
			return kit.Err(a.Identity.Users.ChangeUser(t.Ctx, by, name, identity.UserChange{Role: &user}))
		},
		"delete": func(by app.Actor, name string) error { return a.Identity.Users.DeleteUser(t.Ctx, by, name, "") },
	}
	in, err := a.Identity.Tenants.ActIn(t.Ctx, root, kit.Tenant)
	t.Must(err)
	for what, take := range takeAway {
		for _, by := range []app.Actor{boss, in} {
			if err := take(by, "boss"); app.CodeOf(err) != app.EConflict || app.AsError(err).Reason != "last_admin" {
				t.Errorf("%s the last admin by %s: %v", what, by.Name(), err)
			}
		}
		if err := take(root, "root"); app.AsError(err).Reason != "last_admin" {
			t.Errorf("%s the last superadmin: %v", what, err)
		}
	}
	t.reason(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, root, "root", identity.UserChange{Role: &admin})), app.EConflict, "last_admin")
	// A disabled admin is no one to rely on.
	t.user(a, boss, "quiet", app.RoleAdmin)
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "quiet", identity.UserChange{Disabled: &yes})))
	t.reason(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "boss", identity.UserChange{Role: &user})), app.EConflict, "last_admin")
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "quiet", ""))
	// With a second one each may go, but not both.
	for what, take := range takeAway {
		name := "second." + what
		t.user(a, boss, name, app.RoleAdmin)
		if err := take(boss, name); err != nil {
			t.Errorf("%s one of two admins: %v", what, err)
		}
	}
	// A superadmin of the tenant manages it too, and becomes its admin.
	t.user(a, root, "root2", app.RoleSuperadmin)
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, root, "root2", identity.UserChange{Role: &admin})))
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, root, "root2", ""))
	if u, err := t.Store.Superadmin(t.Ctx); err != nil || u.Name != "root" {
		t.Errorf("the superadmin is %q (%v)", u.Name, err)
	}
}

// groups are made here, come from elsewhere, and both at once.
func (t *storeTest) groups() {
	a, _, boss := t.services()
	now := t.Clock.Now()
	// elsewhere is where people prove who they are, and what it says of their groups.
	elsewhere := func(user string, groups ...string) {
		t.Helper()
		p := identity.Subject{Provider: "corp", Issuer: "https://id.corp.example", ID: user, Name: user}
		t.Must(kit.Err(t.Store.AdmitSubject(t.Ctx, p, identity.Grant{Tenant: kit.Tenant, Role: app.RoleUser, Groups: groups}, now)))
	}
	groupsOf := func(user, want string) {
		t.Helper()
		u, err := t.Store.User(t.Ctx, kit.Tenant, user)
		t.Must(err)
		if got := strings.Join(u.Groups, " "); got != want {
			t.Errorf("%s is in %q, want %q", user, got, want)
		}
	}
	elsewhere("ada")
	elsewhere("bob")
	about := "who runs nights"
	g, err := a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "ops", About: &about, Members: &[]string{"bob", "ada"}})
	t.Must(err)
	if g.About != about || len(g.Members) != 2 || g.Members[0].User != "ada" || !g.Members[0].Here || g.CreatedBy != "boss" {
		t.Errorf("group %+v", g)
	}
	_, err = a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "ops", Add: []string{"cleo"}})
	if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "members" || !strings.Contains(e.Message, "cleo") {
		t.Errorf("a member that is not there: %v", err)
	}
	elsewhere("ada", "ops", " corp/eng ", "bad\nname", "", strings.Repeat("x", 300), "ops")
	groupsOf("ada", "corp/eng ops")
	t.Must(kit.Err(a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "ops", Remove: []string{"ada"}})))
	groupsOf("ada", "corp/eng ops") // as it is still said elsewhere
	elsewhere("ada", "corp/eng")
	groupsOf("ada", "corp/eng")
	groupsOf("bob", "ops")
	t.Must(kit.Err(a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "ops", Add: []string{"ada"}})))
	elsewhere("ada")
	groupsOf("ada", "ops")
	elsewhere("ada", "ops", "eng")
	all, err := a.Identity.Groups.Groups(t.Ctx, boss)
	t.Must(err)
	if len(all) != 2 || all[0].Name != "eng" || !all[0].CreatedAt.IsZero() || all[1].Name != "ops" ||
		fmt.Sprint(all[1].Members) != "[{ada [oidc] true} {bob [] true}]" {
		t.Errorf("groups: %+v", all)
	}
	t.Code(a.Identity.Groups.DeleteGroup(t.Ctx, boss, "eng"), app.ENotFound)
	t.Must(a.Identity.Groups.DeleteGroup(t.Ctx, boss, "ops"))
	groupsOf("ada", "eng ops")
	groupsOf("bob", "")
	many := make([]string, 700)
	for i := range many {
		many[i] = fmt.Sprintf("g%03d", i)
	}
	elsewhere("bob", many...)
	if u, err := t.Store.User(t.Ctx, kit.Tenant, "bob"); err != nil || len(u.Groups) != 500 || !slices.IsSorted(u.Groups) {
		t.Errorf("%d groups (%v)", len(u.Groups), err)
	}
	// What no one changed is not written, and so not in the audit.
	entries := func() int {
		list, _, err := a.Identity.AuditLog.Audit(t.Ctx, boss, app.AuditFilter{Limit: 200})
		t.Must(err)
		return len(list)
	}
	before := entries()
	elsewhere("bob", many...)
	if n := entries(); n != before {
		t.Errorf("%d entries for nothing", n-before)
	}
}

// tokens hold until they expire, are revoked, or their user may nothing any more.
func (t *storeTest) tokens() {
	a, _, boss := t.services()
	t.user(a, boss, "ada", app.RoleUser)
	t.user(a, boss, "ci", app.RoleRobot)
	ada := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Session: "3", ProvenAt: t.Clock.Now(), SeenAt: t.Clock.Now()}
	k, secret, err := a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: "laptop", Scopes: []app.Scope{app.ScopeCluster}})
	t.Must(err)
	if k.ID == 0 || fmt.Sprint(k.Scopes) != "[read cluster]" || k.ExpiresAt.Sub(k.CreatedAt) != 90*24*time.Hour {
		t.Errorf("token %+v", k)
	}
	_, _, err = a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: "laptop"})
	if e := app.AsError(err); e.Code != app.EConflict || e.Field != "label" {
		t.Errorf("a label twice: %v", err)
	}
	actor, err := a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "192.0.2.7")
	t.Must(err)
	if want := (app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Scopes: k.Scopes, Via: app.ViaAPI, From: "192.0.2.7",
		Token: "laptop"}); !reflect.DeepEqual(actor, want) {
		t.Errorf("actor %+v, want %+v", actor, want)
	}
	for _, m := range []identity.NewAPIToken{{Label: "x", Scopes: []app.Scope{app.ScopeRead}}} {
		_, _, err = a.Identity.Tokens.CreateToken(t.Ctx, actor, m)
		t.reason(err, app.EForbidden, "scope")
	}
	used := func(want time.Time, from string) {
		t.Helper()
		k, err := t.Store.Token(t.Ctx, kit.Tenant, k.ID)
		t.Must(err)
		if !k.UsedAt.Equal(want) || k.UsedFrom != from {
			t.Errorf("used %s from %s, want %s from %s", k.UsedAt, k.UsedFrom, want, from)
		}
	}
	first := t.Clock.Now()
	used(first, "192.0.2.7")
	t.Clock.Move(59 * time.Second)
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "192.0.2.8")))
	used(first, "192.0.2.7")
	t.Clock.Move(time.Second)
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "192.0.2.8")))
	used(t.Clock.Now(), "192.0.2.8")

	// Robots' are made by admins; people's are not.
	_, robot, err := a.Identity.Tokens.CreateRobotToken(t.Ctx, boss, identity.NewAPIToken{User: "ci", Label: "nightly", Days: 365,
		Scopes: []app.Scope{app.ScopeCluster}})
	t.Must(err)
	_, _, err = a.Identity.Tokens.CreateRobotToken(t.Ctx, boss, identity.NewAPIToken{User: "ada", Label: "spy"})
	t.Code(err, app.EForbidden)
	_, _, err = a.Identity.Tokens.CreateRobotToken(t.Ctx, boss, identity.NewAPIToken{User: "no.such.user", Label: "x"})
	t.Code(err, app.ENotFound)
	if list, err := a.Identity.Tokens.Tokens(t.Ctx, boss, ""); err != nil || len(list) != 2 {
		t.Errorf("an admin sees %+v (%v)", list, err)
	}
	if list, err := a.Identity.Tokens.Tokens(t.Ctx, ada, ""); err != nil || len(list) != 1 || list[0].User != "ada" {
		t.Errorf("a user sees %+v (%v)", list, err)
	}
	t.Code(kit.Err(a.Identity.Tokens.Tokens(t.Ctx, ada, "ci")), app.EForbidden)
	t.Code(a.Identity.Tokens.RevokeToken(t.Ctx, app.Actor{Tenant: "t2", User: "boss", Role: app.RoleAdmin}, k.ID), app.ENotFound)

	// Disabled, its tokens stop at once.
	yes, no := true, false
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ci", identity.UserChange{Disabled: &yes})))
	t.reason(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, robot, "")), app.EUnauthorized, "disabled")
	_, _, err = a.Identity.Tokens.CreateRobotToken(t.Ctx, boss, identity.NewAPIToken{User: "ci", Label: "more"})
	t.reason(err, app.EConflict, "disabled")
	t.Must(kit.Err(a.Identity.Users.ChangeUser(t.Ctx, boss, "ci", identity.UserChange{Disabled: &no})))
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, robot, "")))

	t.Clock.Move(90 * 24 * time.Hour)
	t.reason(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "")), app.EUnauthorized, "expired")
	t.Must(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, robot, "")))
	_, fresh, err := a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: "laptop"}) // the expired one of that label goes
	t.Must(err)
	list, err := a.Identity.Tokens.Tokens(t.Ctx, ada, "")
	t.Must(err)
	if len(list) != 1 {
		t.Fatalf("tokens %+v", list)
	}
	t.Must(a.Identity.Tokens.RevokeToken(t.Ctx, ada, list[0].ID))
	t.Code(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, fresh, "")), app.EUnauthorized)
	t.Code(a.Identity.Tokens.RevokeToken(t.Ctx, ada, list[0].ID), app.ENotFound)
	for i := range 50 {
		_, _, err = a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: fmt.Sprint("t", i)})
		t.Must(err)
	}
	_, _, err = a.Identity.Tokens.CreateToken(t.Ctx, ada, identity.NewAPIToken{Label: "one more"})
	t.reason(err, app.EConflict, "too_many")
	t.Must(a.Identity.Users.DeleteUser(t.Ctx, boss, "ci", ""))
	t.Code(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, robot, "")), app.EUnauthorized)
}

// tenantsCome: made with an admin and the settings of another, visited by superadmins only, deleted when nothing is left.
func (t *storeTest) tenantsCome() {
	a, root, boss := t.services()
	about := "nights"
	t.Must(kit.Err(a.Identity.Groups.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: "ops", About: &about, Members: &[]string{"boss"}})))
	for _, q := range []policy.Quota{{Scope: policy.QuotaTenant}, {Scope: policy.QuotaGroup, Name: "ops"}, {Scope: policy.QuotaUser, Name: "boss"}} {
		t.Must(t.Store.SetQuota(t.Ctx, boss, q))
	}
	t.Must(kit.Err(t.Store.SavePolicy(t.Ctx, policy.Policy{Name: "big", Enabled: true, When: "nodes > 9", Effect: "refuse", Reason: "Too big."}, boss,
		t.Clock.Now())))
	t2, password, err := a.Identity.Tenants.CreateTenant(t.Ctx, root,
		identity.NewTenant{Name: "blue", From: kit.Tenant, Admin: &identity.NewUser{Name: "ann", Role: app.RoleUser}})
	t.Must(err)
	if password == "" || t2.From != kit.Tenant || t2.Users != 1 || t2.CreatedBy != "root" {
		t.Errorf("made %+v with password %q", t2, password)
	}
	first, err := a.Identity.SignIns.SignIn(t.Ctx, "blue", "ann", password, identity.Visit{})
	t.Must(err)
	if ann, err := a.Identity.Sessions.ActorOfSession(t.Ctx, first.ID, identity.Visit{}); err != nil || ann.Role != app.RoleAdmin || !ann.MustChange {
		t.Errorf("its admin is %+v (%v)", ann, err)
	}
	in, err := a.Identity.Tenants.ActIn(t.Ctx, root, "blue")
	t.Must(err)
	if in.Tenant != "blue" || in.Home != app.DefaultTenant || in.Name() != "root@default" {
		t.Errorf("in blue: %+v", in)
	}
	if gs, err := a.Identity.Groups.Groups(t.Ctx, in); err != nil || len(gs) != 1 || gs[0].About != "nights" || len(gs[0].Members) != 0 {
		t.Errorf("copied groups: %+v (%v)", gs, err)
	}
	if qs, err := t.Store.Quotas(t.Ctx, "blue", t.Clock.Now()); err != nil || len(qs) != 2 {
		t.Errorf("copied quotas: %+v (%v)", qs, err)
	}
	if ps, err := t.Store.Policies(t.Ctx, "blue"); err != nil || len(ps) != 1 || ps[0].Name != "big" || ps[0].Version != 1 || ps[0].SavedBy != "root@default" {
		t.Errorf("copied policies: %+v (%v)", ps, err)
	}
	if back, err := a.Identity.Tenants.ActIn(t.Ctx, in, app.DefaultTenant); err != nil || back.Home != "" || back.Tenant != app.DefaultTenant {
		t.Errorf("back: %+v (%v)", back, err)
	}
	t.Code(kit.Err(a.Identity.Tenants.ActIn(t.Ctx, root, "green")), app.ENotFound)
	for _, there := range []string{"blue", "green"} {
		t.Code(kit.Err(a.Identity.Tenants.ActIn(t.Ctx, boss, there)), app.EForbidden)
		t.Code(kit.Err(a.Identity.Tenants.Tenant(t.Ctx, boss, there)), app.ENotFound)
	}
	_, _, err = a.Identity.Tenants.CreateTenant(t.Ctx, root, identity.NewTenant{Name: "blue"})
	t.Code(err, app.EConflict)
	_, _, err = a.Identity.Tenants.CreateTenant(t.Ctx, root, identity.NewTenant{Name: "red", From: "green"})
	if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "from" {
		t.Errorf("from a tenant that is not there: %v", err)
	}
	t.Code(kit.Err(a.Identity.Tenants.Tenant(t.Ctx, root, "red")), app.ENotFound)
	five := 5
	t.Must(kit.Err(a.Identity.Tenants.ChangeTenant(t.Ctx, root, "blue", identity.TenantChange{Slots: &five})))
	if l, err := t.Store.Load(t.Ctx); err != nil || !reflect.DeepEqual(l.Slots, map[string]int{kit.Tenant: 3, "blue": 5}) {
		t.Errorf("slots %v (%v)", l.Slots, err)
	}

	// What is in a cloud keeps a tenant.
	refused := func(words ...string) {
		t.Helper()
		err := a.Identity.Tenants.DeleteTenant(t.Ctx, root, kit.Tenant)
		t.reason(err, app.EConflict, "not_empty")
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v\ndoes not say %q", err, w)
			}
		}
		t.Must(kit.Err(t.Store.User(t.Ctx, kit.Tenant, "boss"))) // nothing was taken
	}
	t.Create("web", 1)
	refused("1 cluster (web (web-1))")
	t.Drain()
	t.Must(t.Store.NoteResources(t.Ctx, kit.Cloud, kit.Tenant+"-web-n1", t.Clock.Now(), []app.Seen{{Kind: fleet.ResourceMachine, ID: "m-n1"}}))
	t.Remove(1)
	t.Drain()
	refused("1 deleted cluster without a final receipt (web (web-1))")
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{At: t.Clock.Now(), How: "a list"}, t.Clock.Now()))
	late := fleet.Orphan{ID: fleet.OrphanID(kit.Cloud, "m-9"), Provider: kit.Cloud, Machine: "m-9", Tenant: kit.Tenant, Kind: fleet.OrphanEnded}
	t.Must(kit.Err(t.Store.SeeOrphans(t.Ctx, kit.Cloud, t.Clock.Now(), []fleet.Orphan{late})))
	refused("1 orphaned machine (" + kit.Cloud + " m-9)")
	t.Clock.Move(time.Minute)
	t.Must(kit.Err(t.Store.SeeOrphans(t.Ctx, kit.Cloud, t.Clock.Now(), nil)))
	_, secret, err := a.Identity.Tokens.CreateToken(t.Ctx, boss, identity.NewAPIToken{Label: "x"})
	t.Must(err)
	t.Must(a.Identity.Tenants.DeleteTenant(t.Ctx, root, kit.Tenant))
	t.Code(kit.Err(a.Identity.Tenants.Tenant(t.Ctx, root, kit.Tenant)), app.ENotFound)
	t.Code(kit.Err(a.Identity.Tenants.ActIn(t.Ctx, root, kit.Tenant)), app.ENotFound)
	t.Code(kit.Err(t.Store.User(t.Ctx, kit.Tenant, "boss")), app.ENotFound)
	t.Code(kit.Err(a.Identity.Tokens.ActorOfToken(t.Ctx, secret, "")), app.EUnauthorized)
	if all, err := t.Store.Resources(t.Ctx, kit.Tenant, "web-1"); err != nil || len(all) != 1 {
		t.Errorf("the receipt has %d lines (%v), want 1", len(all), err)
	}
	_, _, err = a.Identity.Tenants.CreateTenant(t.Ctx, root, identity.NewTenant{Name: kit.Tenant})
	t.Code(err, app.EConflict) // else someone else would read its records
	t.Code(t.Store.AddUser(t.Ctx, root, identity.User{Tenant: kit.Tenant, Name: "late", Role: app.RoleUser, CreatedAt: t.Clock.Now()}), app.ENotFound)
	t.reason(a.Identity.Tenants.DeleteTenant(t.Ctx, root, app.DefaultTenant), app.EConflict, "default")
	if names, err := a.Identity.Tenants.TenantNames(t.Ctx, root); err != nil || fmt.Sprint(names) != "[blue default]" {
		t.Errorf("tenants %v (%v)", names, err)
	}
}
