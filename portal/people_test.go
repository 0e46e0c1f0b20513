package portal

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"
)

// fakePeople is a fake Muster with users, groups, tokens and tenants. It records calls, and fails for some names.
type fakePeople struct {
	useTokens
	fake    *fake
	users   []identity.UserView
	groups  []identity.Group
	asked   []string
	changed identity.UserChange
}

func people(t *testing.T) (*testSite, *fakePeople) {
	t.Helper()
	var c *fakePeople
	s := visit(t, func(cfg *Config) {
		f := fakeOf(cfg)
		c = &fakePeople{fake: f, groups: []identity.Group{
			{Name: "data", About: "<The data team>", CreatedAt: f.now(), Members: []identity.Member{{User: "ada", Here: true}, {User: "bob", Sources: []string{"oidc:corp"}}}},
			{Name: "eng", Members: []identity.Member{{User: "bob", Sources: []string{"oidc:corp"}}}}}}
		for _, u := range []identity.User{
			{Name: "ada", FullName: "Ada <Lovelace>", Role: app.RoleUser, Groups: []string{"data", "eng"}, SeenAt: f.now().Add(-2 * time.Hour)},
			{Name: "bob", Role: app.RoleApprover, DisabledAt: f.now()},
			{Name: "ci", Role: app.RoleRobot},
			{Name: "root", Role: app.RoleSuperadmin, SeenAt: f.now()},
		} {
			u.Tenant = app.DefaultTenant
			c.users = append(c.users, identity.UserView{User: u})
		}
		c.users[0].LocalGroups, c.users[0].Clusters, c.users[0].Tokens = []string{"data"}, []string{"web", "db"}, 3
		cfg.UseCases = useCases(f, c)
	})
	return s, c
}

// only refuses actors without permission, as the use cases do.
func (c *fakePeople) only(a app.Actor, useCase, what string) error {
	if !a.May(useCase) {
		return app.Errorf(app.EForbidden, "Your role doesn't allow this.")
	}
	c.asked = append(c.asked, a.Name()+" in "+a.Tenant+": "+what)
	return nil
}

func (c *fakePeople) Users(_ context.Context, a app.Actor, f identity.UserFilter) (users []identity.User, more bool, err error) {
	for _, v := range c.users {
		if strings.Contains(v.Name, f.Search) && (f.Role == "" || f.Role == v.Role) && v.Name > f.After {
			users = append(users, v.User)
		}
	}
	return users, f.Search == "" && f.Role == "" && f.After == "", c.only(a, "Users", "users")
}

func (c *fakePeople) User(_ context.Context, a app.Actor, name string) (identity.UserView, error) {
	for _, v := range c.users {
		if v.Name == name {
			return v, c.only(a, "User", "user "+name)
		}
	}
	return identity.UserView{}, app.Errorf(app.ENotFound, "User %q doesn't exist.", name)
}

func (c *fakePeople) CreateUser(_ context.Context, a app.Actor, n identity.NewUser) (identity.UserView, string, error) {
	if n.Name == "ada" {
		return identity.UserView{}, "", &app.Error{Code: app.EConflict, Field: "name", Message: `User "ada" already exists.`}
	}
	err := c.only(a, "CreateUser", "create "+n.Name+" "+string(n.Role)+" "+strings.Join(n.Groups, ","))
	if n.Role == app.RoleRobot {
		return identity.UserView{User: identity.User{Name: n.Name, Role: n.Role}}, "", err
	}
	return identity.UserView{User: identity.User{Tenant: a.Tenant, Name: n.Name, Role: n.Role}}, "one-time-" + n.Name, err
}

func (c *fakePeople) ChangeUser(ctx context.Context, a app.Actor, name string, ch identity.UserChange) (identity.UserView, error) {
	if ch.Email != nil && *ch.Email == "wrong" {
		return identity.UserView{}, &app.Error{Code: app.EInvalid, Field: "email", Message: "Invalid email address."}
	}
	if name == "root" && *ch.Disabled {
		return identity.UserView{}, &app.Error{Code: app.EConflict, Reason: "last_admin", Message: "root is the last superadmin of this installation.", Hint: "Assign that role to someone else first."}
	}
	c.changed = ch
	if err := c.only(a, "ChangeUser", "change "+name); err != nil {
		return identity.UserView{}, err
	}
	return c.User(ctx, a, name)
}

func (c *fakePeople) ResetUserPassword(_ context.Context, a app.Actor, name string) (string, error) {
	return "fresh-" + name, c.only(a, "ResetUserPassword", "reset "+name)
}

func (c *fakePeople) DeleteUser(_ context.Context, a app.Actor, name, to string) error {
	if name == "ada" && to == "" {
		return &app.Error{Code: app.EConflict, Message: "ada still owns 2 clusters: web, db.", Hint: "Delete the clusters, or name a user to transfer them to."}
	}
	return c.only(a, "DeleteUser", "delete "+name+" to "+to)
}

func (c *fakePeople) Groups(_ context.Context, a app.Actor) ([]identity.Group, error) {
	return c.groups, c.only(a, "Groups", "groups")
}

func (c *fakePeople) SaveGroup(_ context.Context, a app.Actor, ch identity.GroupChange) (identity.Group, error) {
	if slices.Contains(*ch.Members, "zoe") {
		return identity.Group{}, &app.Error{Code: app.EInvalid, Field: "members", Message: `User "zoe" doesn't exist.`}
	}
	return identity.Group{}, c.only(a, "SaveGroup", "group "+ch.Name+" "+*ch.About+" "+strings.Join(*ch.Members, ","))
}

func (c *fakePeople) DeleteGroup(_ context.Context, a app.Actor, name string) error {
	return c.only(a, "DeleteGroup", "no group "+name)
}

func (c *fakePeople) Tokens(_ context.Context, a app.Actor, user string) ([]identity.Token, error) {
	all := []identity.Token{
		{ID: 7, User: "ci", Label: "nightly", Scopes: []app.Scope{app.ScopeRead, app.ScopeCluster}, CreatedBy: "root", ExpiresAt: c.fake.now().Add(49 * time.Hour), UsedAt: c.fake.now().Add(-time.Minute), UsedFrom: "192.0.2.1"},
		{ID: 6, User: "ada", Label: "old", Scopes: []app.Scope{app.ScopeRead}, CreatedBy: "ada", ExpiresAt: c.fake.now().Add(-time.Hour)},
	}
	return all, c.only(a, "Tokens", "tokens")
}

func (c *fakePeople) CreateToken(_ context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error) {
	return identity.Token{User: a.User, Label: n.Label}, "secret-own", c.only(a, "CreateToken", "token "+n.Label)
}

func (c *fakePeople) CreateRobotToken(_ context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error) {
	if n.Days > 365 {
		return identity.Token{}, "", &app.Error{Code: app.EInvalid, Field: "days", Message: "Days must be from 1 to 365, not 400."}
	}
	return identity.Token{User: n.User, Label: n.Label}, "secret-of-" + n.User, c.only(a, "CreateRobotToken", "robot token "+n.Label)
}

func (c *fakePeople) RevokeToken(_ context.Context, a app.Actor, id int64) error {
	if id != 7 {
		return app.Errorf(app.ENotFound, "Token %d doesn't exist.", id)
	}
	return c.only(a, "RevokeToken", "revoke 7")
}

func (c *fakePeople) Tenants(_ context.Context, a app.Actor) ([]identity.Tenant, error) {
	return []identity.Tenant{{Name: "blue", About: "Blue & bold", Slots: 4, Clusters: 2, Users: 9, SlotsGranted: 3}, {Name: app.DefaultTenant, Users: 4}}, c.only(a, "Tenants", "tenants")
}

func (c *fakePeople) TenantNames(_ context.Context, a app.Actor) ([]string, error) {
	return []string{"blue", app.DefaultTenant}, nil
}

func (c *fakePeople) Tenant(_ context.Context, a app.Actor, name string) (identity.Tenant, error) {
	return identity.Tenant{Name: name}, c.only(a, "Tenant", "tenant "+name)
}

func (c *fakePeople) CreateTenant(_ context.Context, a app.Actor, n identity.NewTenant) (identity.Tenant, string, error) {
	if n.Name == "Blue" {
		return identity.Tenant{}, "", &app.Error{Code: app.EInvalid, Field: "name", Message: "A tenant's name has small letters."}
	}
	return identity.Tenant{Name: n.Name}, "one-time-" + n.Admin.Name, c.only(a, "CreateTenant", "tenant "+n.Name)
}

func (c *fakePeople) ChangeTenant(_ context.Context, a app.Actor, name string, ch identity.TenantChange) (identity.Tenant, error) {
	return identity.Tenant{Name: name, Slots: *ch.Slots}, c.only(a, "ChangeTenant", "change tenant "+name)
}

func (c *fakePeople) DeleteTenant(_ context.Context, a app.Actor, name string) error {
	return &app.Error{Code: app.EConflict, Message: "Tenant blue can't be deleted yet: 2 clusters (web, db)."}
}

func (c *fakePeople) ActIn(_ context.Context, a app.Actor, tenant string) (app.Actor, error) {
	switch {
	case !a.May("ActIn"):
		return a, app.Errorf(app.EForbidden, "Your role doesn't allow this.")
	case tenant == a.Home:
		a.Tenant, a.Home = a.Home, ""
	case tenant == "blue":
		a.Home, a.Tenant = a.Tenant, tenant
	default:
		return a, app.Errorf(app.ENotFound, "Tenant %q doesn't exist.", tenant)
	}
	return a, nil
}

func TestUserPages(t *testing.T) {
	s, c := people(t)
	s.signIn("root")
	home := s.get("/admin").body
	for _, path := range []string{"/admin/users", "/admin/groups", "/admin/tokens", "/admin/tenants"} {
		if !strings.Contains(home, `href="`+path+`"`) {
			t.Errorf("a superadmin has no link to %s", path)
		}
	}
	a := s.get("/admin/users")
	a.reads(http.StatusOK, "ada Ada <Lovelace> user data eng active 2 h ago", "bob approver no groups disabled", "ci robot", "Next page")
	if !strings.Contains(a.body, `href="/admin/users?after=root"`) {
		t.Error("no link to the next page")
	}
	if a := s.get("/admin/users?q=ci"); strings.Contains(a.text(), "Lovelace") || !strings.Contains(a.body, `value="ci"`) {
		t.Errorf("a search finds %s", a.text())
	}
	s.get("/admin/users?q="+strings.Repeat("x", 200)).reads(http.StatusUnprocessableEntity, "Search text must be at most 100 characters.")

	a = s.get("/admin/users/ada")
	a.reads(http.StatusOK, "3 API tokens", "2 clusters: web and db", "From an identity provider: eng.", "New owner of the clusters")
	if strings.Contains(a.body, ">robot:") {
		t.Error("a user can become a robot")
	}
	s.get("/admin/users/unknown").reads(http.StatusNotFound, "doesn't exist")
	if a := s.post("/admin/users/ada", url.Values{"role": {"approver"}, "group": {"data"}, "full_name": {" Ada "}}); a.status != http.StatusSeeOther {
		t.Fatalf("saved: %d %s", a.status, a.text())
	}
	if ch := c.changed; *ch.Role != app.RoleApprover || *ch.FullName != "Ada" || len(*ch.Groups) != 1 || *ch.Disabled {
		t.Errorf("changed to %+v", ch)
	}
	s.get("/admin/users/ada").reads(http.StatusOK, "User ada saved.")
	a = s.post("/admin/users/ada", url.Values{"role": {"user"}, "email": {"wrong"}, "full_name": {"Typed"}})
	a.reads(http.StatusUnprocessableEntity, "Invalid email address.")
	if !strings.Contains(a.body, `value="Typed"`) || !strings.Contains(a.body, `value="wrong"`) {
		t.Error("what was typed is lost")
	}
	s.post("/admin/users/root", url.Values{"role": {"superadmin"}, "disabled": {"yes"}}).reads(http.StatusConflict, "root is the last superadmin of this installation. Assign that role to someone else first.")

	s.post("/admin/users/ada/reset-password", nil).reads(http.StatusOK, "One-time password for ada", "You won't be able to see it again.")
	s.post("/admin/users/ada/delete", url.Values{"transfer_to": {"bob"}}).reads(http.StatusUnprocessableEntity, "Tick the checkbox to confirm.")
	s.post("/admin/users/ada/delete", url.Values{"sure": {"yes"}}).reads(http.StatusConflict, "ada still owns 2 clusters: web, db.")
	if a := s.post("/admin/users/ada/delete", url.Values{"sure": {"yes"}, "transfer_to": {"bob"}}); a.status != http.StatusSeeOther || c.asked[len(c.asked)-1] != "root in default: delete ada to bob" {
		t.Errorf("deleted: %d %v", a.status, c.asked)
	}
	s.get("/admin/users").reads(http.StatusOK, "User ada deleted.")

	s.get("/admin/users/new").reads(http.StatusOK, "New user", "Muster shows a one-time password")
	a = s.post("/admin/users", url.Values{"name": {"dan"}, "role": {"user"}, "group": {"data"}})
	a.reads(http.StatusOK, "User dan created", "who must change it at first sign-in")
	if !strings.Contains(a.body, `value="one-time-dan"`) {
		t.Error("the password is not shown")
	}
	a = s.post("/admin/users", url.Values{"name": {"ada"}, "role": {"user"}, "group": {"data"}, "email": {"a@b.c"}})
	a.reads(http.StatusConflict, "already exists")
	if !strings.Contains(a.body, `value="a@b.c"`) || !strings.Contains(a.body, `aria-invalid`) {
		t.Error("what was typed is lost, or the field is not marked")
	}
}

func TestGroupAndTokenPages(t *testing.T) {
	s, c := people(t)
	s.signIn("root")
	last := func() string { return c.asked[len(c.asked)-1] }
	a := s.get("/admin/groups")
	a.reads(http.StatusOK, "data 2 members <The data team> ada bob", "eng 1 member bob Managed by an identity provider")
	if !strings.Contains(a.body, ">ada</textarea>") {
		t.Error("the form has members from elsewhere")
	}
	if a := s.post("/admin/groups", url.Values{"name": {"data"}, "about": {"x"}, "members": {"ada, bob\ncleo"}}); a.status != http.StatusSeeOther || last() != "root in default: group data x ada,bob,cleo" {
		t.Errorf("saved: %d %s", a.status, last())
	}
	s.post("/admin/groups", url.Values{"name": {"data"}, "new": {"yes"}}).reads(http.StatusConflict, "Group data already exists.")
	a = s.post("/admin/groups", url.Values{"name": {"data"}, "members": {"zoe"}})
	a.reads(http.StatusUnprocessableEntity, "doesn't exist")
	if !strings.Contains(a.body, ">zoe</textarea>") || !strings.Contains(a.body, "<details class=\"more gap\" open>") {
		t.Error("what was typed is lost, or its form is closed")
	}
	if s.post("/admin/groups/delete", url.Values{"name": {"data"}}); last() != "root in default: no group data" {
		t.Errorf("deleted: %s", last())
	}

	s.get("/admin/tokens").reads(http.StatusOK, "nightly ID 7, created by root ci read, cluster in 2 d 1 h 1 min ago from 192.0.2.1", "old ID 6, created by ada ada read expired 1 h ago never")
	a = s.post("/admin/tokens", url.Values{"user": {"ci"}, "label": {"build"}, "days": {"30"}, "scope": {"cluster"}})
	a.reads(http.StatusOK, "API token for ci", "You won't be able to see it again.")
	if !strings.Contains(a.body, `value="secret-of-ci"`) {
		t.Error("the token is not shown")
	}
	s.post("/admin/tokens", url.Values{"user": {"ci"}, "label": {"build"}, "days": {"400"}}).reads(http.StatusUnprocessableEntity, "Days must be from 1 to 365")
	s.post("/admin/tokens", url.Values{"user": {"ci"}, "label": {"build"}, "days": {"ten"}}).reads(http.StatusUnprocessableEntity, "Days must be a whole number.")
	if s.post("/admin/tokens/revoke", url.Values{"id": {"7"}}); last() != "root in default: revoke 7" {
		t.Errorf("revoked: %s", last())
	}
	s.post("/admin/tokens/revoke", url.Values{"id": {"8"}}).reads(http.StatusNotFound, "Token 8 doesn't exist.")
}

func TestTenantPagesAndSwitch(t *testing.T) {
	s, c := people(t)
	s.signIn("root")
	s.get("/admin/tenants").reads(http.StatusOK, "blue Switch to tenant Blue & bold Clusters 2 Users 9 Worker slots 3 in use, limit 4", "default current tenant Clusters 0 Users 4 Worker slots 0 in use, server default")
	s.post("/admin/tenants", url.Values{"new": {"yes"}, "name": {"Blue"}, "admin": {"ann"}}).reads(http.StatusUnprocessableEntity, "A tenant's name has small letters.")
	s.post("/admin/tenants", url.Values{"new": {"yes"}, "name": {"red"}, "admin": {"ann"}}).reads(http.StatusOK, "Tenant red created", "Share this one-time password with ann")
	s.post("/admin/tenants", url.Values{"name": {"blue"}, "slots": {"many"}}).reads(http.StatusUnprocessableEntity, "Worker slots must be a whole number.")
	s.post("/admin/tenants/delete", url.Values{"name": {"blue"}, "sure": {"yes"}}).reads(http.StatusConflict, "Tenant blue can't be deleted yet: 2 clusters (web, db).")

	// After the switch, every page shows the other tenant, until it is switched back.
	if a := s.post("/tenant", url.Values{"tenant": {"blue"}}); a.status != http.StatusSeeOther {
		t.Fatalf("switched: %d", a.status)
	}
	a := s.get("/admin/users")
	a.reads(http.StatusOK, "Members of blue")
	if last := c.asked[len(c.asked)-2]; last != "root@default in blue: users" || !strings.Contains(a.body, `<option value="blue" selected>`) {
		t.Errorf("in blue it is asked by %s", last)
	}
	s.post("/tenant", url.Values{"tenant": {"green"}}).reads(http.StatusNotFound, "doesn't exist")
	s.post("/tenant", url.Values{"tenant": {app.DefaultTenant}})
	s.get("/admin/users").reads(http.StatusOK, "Members of default")

	// Others see no switch, and can't use it.
	s, c = people(t)
	s.signIn("ada")
	if a := s.get("/clusters"); strings.Contains(a.body, `action="/tenant"`) {
		t.Error("a user sees the switch")
	}
	s.post("/tenant", url.Values{"tenant": {"blue"}}).reads(http.StatusForbidden, "Your role doesn't allow this.")
	for _, path := range []string{"/admin/users", "/admin/groups", "/admin/tenants"} {
		s.get(path).reads(http.StatusForbidden, "Your role doesn't allow this.")
	}
	for _, path := range []string{"/admin/users/new", "/admin/tokens"} {
		s.get(path).reads(http.StatusForbidden, "Your role doesn't allow this.")
	}
	_ = c
}

func TestTenantHeader(t *testing.T) {
	s, _ := people(t)
	get := func(user, tenant string) seen {
		return s.do(s.request(http.MethodGet, "/api/v1/users", "", "Authorization", "Bearer token-of-"+user, "Muster-Tenant", tenant))
	}
	if a := get("ada", "blue"); a.status != http.StatusForbidden {
		t.Errorf("a user acts in blue: %d %s", a.status, a.body)
	}
	// The fake's tokens all belong to users, who have only their own tenant.
	if a := s.do(s.request(http.MethodGet, "/api/v1/tokens", "", "Authorization", "Bearer token-of-ada", "Muster-Tenant", app.DefaultTenant)); a.status != http.StatusOK {
		t.Errorf("a user names its own tenant: %d %s", a.status, a.body)
	}
}

// revocable is a fake Muster whose tokens can all be revoked at once.
type revocable struct {
	site.SignIns
	gone atomic.Bool
}

func (m *revocable) ActorOfToken(ctx context.Context, token, from string) (app.Actor, error) {
	if m.gone.Load() {
		return app.Actor{}, app.Errorf(app.EUnauthorized, "This token is invalid or was revoked.")
	}
	return m.SignIns.ActorOfToken(ctx, token, from)
}

func TestAnEventStreamEndsWithItsToken(t *testing.T) {
	var m *revocable
	s := visit(t, func(c *Config) {
		m = &revocable{SignIns: fakeOf(c)}
		c.UseCases = useCases(fakeOf(c), m)
	})
	id := s.cluster(ada, "lake", "hadoop", 3)
	r := s.follow("/api/v1/clusters/"+id+"/events", "Authorization", "Bearer token-of-ada")
	if _, ok := r.next(); !ok {
		t.Fatal("the stream doesn't start")
	}
	m.gone.Store(true)
	s.f.advance(id, 1)
	if e, ok := r.next(); ok {
		t.Errorf("after its token was revoked, a stream sends %+v", e)
	}
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 0 })
}
