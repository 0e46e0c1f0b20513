package demodata

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/webhook"
)

// Tenant is where the company is, Password is everyone's.
const (
	Tenant   = app.DefaultTenant
	password = "correct horse battery staple"
)

// People by what they do.
const (
	Operator = "ada"   // runs the installation
	Admin    = "bruno" // runs the tenant
	approver = "carla"
	user     = "dan"
)

var people = []struct {
	name, full string
	role       app.Role
	groups     []string
}{
	{Operator, "Ada Lindqvist", app.RoleSuperadmin, []string{"platform"}},
	{Admin, "Bruno Keller", app.RoleAdmin, []string{"platform"}},
	{approver, "Carla Mendes", app.RoleApprover, []string{"finance"}},
	{user, "Dan Okafor", app.RoleUser, []string{"shop"}},
	{"elif", "Elif Aydin", app.RoleUser, []string{"data"}},
	{"farid", "Farid Haddad", app.RoleUser, []string{"data"}},
	{"greta", "Greta Holm", app.RoleUser, []string{"shop"}},
	{"hiro", "Hiro Tanaka", app.RoleUser, []string{"finance"}},
	{"ines", "Inês Duarte", app.RoleUser, []string{"shop"}},
	{"jonas", "Jonas Weber", app.RoleUser, []string{"data"}},
	{"kim", "Kim Larsen", app.RoleViewer, nil},
}

// actor returns one of them, as they act in the portal.
func (h *Instance) actor(name string) app.Actor {
	for _, p := range people {
		if p.name == name {
			return app.Actor{Tenant: Tenant, User: p.name, Role: p.role, Groups: p.groups, Via: app.ViaPortal, From: "192.0.2.17", ProvenAt: h.Clock.Now()}
		}
	}
	panic("demodata: no user is called " + name)
}

// addPeople makes accounts, groups, rules and all that there is beside clusters.
func (h *Instance) addPeople(ctx context.Context) error {
	if _, err := h.Services.Catalog.RecordCatalog(ctx, "demodata"); err != nil {
		return err
	}
	hash := identity.HashPassword(password)
	for _, p := range people {
		if err := h.Store.CreateUser(ctx, identity.User{Tenant: Tenant, Name: p.name, FullName: p.full, Email: p.name + "@example.com", Role: p.role, PasswordHash: hash,
			CreatedAt: h.Clock.Now()}); err != nil {
			return err
		}
	}
	if err := h.Store.CreateUser(ctx, identity.User{Tenant: Tenant, Name: "builds", FullName: "Build system", Role: app.RoleRobot, CreatedAt: h.Clock.Now()}); err != nil {
		return err
	}
	boss, operator := h.actor(Admin), h.actor(Operator)
	about := map[string]string{"platform": "Runs Muster and the cloud accounts.", "shop": "Builds the shop.", "data": "Data analysis and streams.",
		"finance": "Reviews costs."}
	for _, name := range []string{"platform", "shop", "data", "finance"} {
		var members []string
		for _, p := range people {
			if len(p.groups) > 0 && p.groups[0] == name {
				members = append(members, p.name)
			}
		}
		text := about[name]
		if _, err := h.Services.Identity.Groups.SaveGroup(ctx, boss, identity.GroupChange{Name: name, About: &text, Members: &members}); err != nil {
			return err
		}
	}
	for _, p := range []policy.Policy{
		{Name: "big-clusters", About: "Large clusters need approval.", Order: 10, Enabled: true, When: "nodes > 15", Effect: policy.EffectApprove,
			Reason: "${nodes} nodes exceed the limit of 15 without approval.", Approval: &policy.Approval{Count: 1, Role: app.RoleApprover, RemindAfter: 4 * time.Hour}},
		{Name: "costly-clusters", About: "Finance approves clusters that cost more than $3/h.", Order: 20, Enabled: true, When: "cost_per_hour > 3.0", Effect: policy.EffectApprove,
			Reason: "The cluster costs more than $3/h.", Approval: &policy.Approval{Count: 1, Group: "finance", BreakGlass: "platform"}},
		{Name: "short-analyses", About: "Analyses run for at most three days.", Order: 30, Enabled: true, When: "template == 'spark'", Effect: policy.EffectRewrite,
			LeaseCap: "duration('72h')", Reason: "Analyses run for at most three days."},
		{Name: "no-builds-in-frankfurt", About: "Build runners belong in Dublin.", Order: 40, Enabled: true, When: "template == 'build-runners' && provider == 'frankfurt'",
			Effect: policy.EffectRefuse, Reason: "Build runners belong in Dublin, where machines cost less."},
		{Name: "weekends", About: "No large clusters on weekends.", Order: 50, When: "nodes > 5 && weekday in ['saturday', 'sunday']", Effect: policy.EffectRefuse, Reason: "Try again on Monday."},
	} {
		if _, err := h.Services.Policy.Policies.SavePolicy(ctx, boss, p); err != nil {
			return fmt.Errorf("policy %s: %w", p.Name, err)
		}
	}
	most := func(v float64) *float64 { return &v }
	if _, err := h.Services.Policy.Quotas.SetTenantQuota(ctx, operator, policy.Limits{Clusters: most(60), Nodes: most(400), CPU: most(2000),
		PerMonth: most(20000)}); err != nil {
		return err
	}
	for _, q := range []policy.Quota{
		{Scope: policy.QuotaGroup, Name: "shop", Limits: policy.Limits{Nodes: most(120), PerMonth: most(6000)}},
		{Scope: policy.QuotaGroup, Name: "data", Limits: policy.Limits{Nodes: most(150), PerMonth: most(9000)}},
		{Scope: policy.QuotaEachUser, Limits: policy.Limits{Clusters: most(12), Nodes: most(80)}},
		{Scope: policy.QuotaUser, Name: "elif", Limits: policy.Limits{Nodes: most(120)}},
	} {
		if _, err := h.Services.Policy.Quotas.SetQuota(ctx, boss, q); err != nil {
			return fmt.Errorf("quota: %w", err)
		}
	}
	for _, name := range []string{"REGISTRY_PASSWORD", "SHOP_TLS_KEY", "CLOUD_TOKEN"} {
		if err := h.Services.Secret.SetSecret(ctx, boss, name, []byte("not a secret")); err != nil {
			return err
		}
	}
	return h.connect(ctx, boss, operator)
}

// connect makes what leads outside: hooks, Slack, tokens, tenants, provisioners.
func (h *Instance) connect(ctx context.Context, boss, operator app.Actor) error {
	kinds := []app.NoticeKind{app.NoticeHealth}
	for _, r := range []webhook.EndpointRequest{
		{Name: "on-call", URL: "https://alerts.example.com/v1/muster", Kinds: &kinds},
		{Name: "chargeback", URL: "https://finance.example.com/hooks/clusters"},
	} {
		if _, err := h.Services.Webhook.SaveHook(ctx, boss, r); err != nil {
			return fmt.Errorf("hook %s: %w", r.Name, err)
		}
	}
	h.team = "T024BE7LD"
	if err := h.Store.SaveWorkspace(ctx, boss, chat.Workspace{Kind: "slack", Team: h.team, Name: "Example Inc.", Tenant: Tenant, State: chat.StateConnected},
		chat.ChatTokens{Access: "xoxb-nothing"}, h.Clock.Now()); err != nil {
		return err
	}
	if err := h.Services.Chat.Channels.SetApprovals(ctx, boss, chat.Approvals{Kind: "slack", Team: h.team, Channel: "C0APPROVE"}); err != nil {
		return err
	}
	if _, _, err := h.Services.Identity.Tokens.CreateRobotToken(ctx, boss,
		identity.NewAPIToken{Label: "build system", User: "builds", Scopes: []app.Scope{app.ScopeRead, app.ScopeCluster}, Days: 90}); err != nil {
		return err
	}
	for name, label := range map[string]string{user: "laptop", Operator: "terraform"} {
		if _, _, err := h.Services.Identity.Tokens.CreateToken(ctx, h.actor(name), identity.NewAPIToken{Label: label, Days: 30}); err != nil {
			return err
		}
	}
	for name, about := range map[string]string{"research": "The university's research groups.", "partners": "Partners who build on our platform."} {
		if _, _, err := h.Services.Identity.Tenants.CreateTenant(ctx, operator, identity.NewTenant{Name: name, About: about, Slots: 20}); err != nil {
			return err
		}
	}
	// One that is inside the server lives as long as that does; the others say so every other second, which no one does here.
	if err := h.staff(ctx, "fra-1"); err != nil {
		return err
	}
	count, age := 3, 24*time.Hour
	for _, p := range []pool.Request{
		{Name: "runners", Hardware: "small", Image: "debian", Provider: "dublin", Count: &count, MaxAge: &age},
	} {
		if _, err := h.Services.Pool.Pools.CreatePool(ctx, boss, p); err != nil {
			return fmt.Errorf("pool: %w", err)
		}
	}
	return nil
}

// staff registers provisioners.
func (h *Instance) staff(ctx context.Context, names ...string) error {
	for i, name := range names {
		if _, err := h.Services.Fleet.Registries.LocalRegistry(fleet.LocalPrefix+name+":", true).Register(ctx,
			fleet.Registration{Name: name, Host: name + ".example.com", Version: "1.0", Slots: 40 + 20*i,
				Tags: map[string]string{"site": name[:3]}}); err != nil {
			return err
		}
	}
	return nil
}
