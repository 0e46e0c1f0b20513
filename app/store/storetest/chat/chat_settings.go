package chat

import (
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// admin manages a tenant.
func chatAdmin(tenant string) app.Actor {
	return app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin, Session: "7", ProvenAt: time.Unix(1, 0), SeenAt: time.Unix(1, 0), Via: app.ViaPortal}
}

// chatSettings: workspaces belong to one tenant each, tokens are replaced by one server at a time, and channels by consent.
func (t *storeTest) chatSettings() {
	boss, other := chatAdmin(kit.Tenant), chatAdmin("blue")
	t.Must(t.Store.CreateTenant(t.Ctx, app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin},
		identity.Tenant{Name: "blue", CreatedAt: t.Clock.Now(), CreatedBy: "root"}, nil))
	now := t.Clock.Now

	// A state of an installation is its beginner's, once, for a while.
	hash := []byte("state")
	t.Must(t.Store.SaveChatInstall(t.Ctx, hash, chat.Install{Tenant: kit.Tenant, User: "boss", Session: 7, At: now(), ExpiresAt: now().Add(time.Minute)}))
	t.Code(t.Store.UseChatInstall(t.Ctx, []byte("other"), boss, 7, now()), app.ENotFound)
	t.Code(t.Store.UseChatInstall(t.Ctx, hash, other, 7, now()), app.ENotFound)
	t.Code(t.Store.UseChatInstall(t.Ctx, hash, boss, 8, now()), app.ENotFound)
	t.Code(t.Store.UseChatInstall(t.Ctx, hash, boss, 7, now().Add(time.Minute)), app.EConflict)
	t.Must(t.Store.UseChatInstall(t.Ctx, hash, boss, 7, now()))
	t.Code(t.Store.UseChatInstall(t.Ctx, hash, boss, 7, now()), app.EConflict)

	w := chat.Workspace{Kind: "slack", Team: "T1", Enterprise: "E1", Name: "acme", Tenant: kit.Tenant, InstalledBy: "boss"}
	soon := now().Add(time.Hour)
	t.Must(t.Store.SaveWorkspace(t.Ctx, boss, w, chat.ChatTokens{Access: "xoxe.1", Refresh: "xoxe-1", ExpiresAt: soon}, now()))
	w.Tenant = "blue"
	t.Code(t.Store.SaveWorkspace(t.Ctx, other, w, chat.ChatTokens{Access: "stolen"}, now()), app.EConflict)
	got, err := t.Store.Workspace(t.Ctx, "slack", "T1", "")
	t.Must(err)
	if got.Tenant != kit.Tenant || got.State != chat.StateConnected || got.Fixed || got.Email || !got.ExpiresAt.Equal(soon) {
		t.Errorf("it is kept as %+v", got)
	}
	_, err = t.Store.Workspace(t.Ctx, "slack", "T2", "E2")
	t.Code(err, app.ENotFound)
	t.Must(t.Store.SaveWorkspace(t.Ctx, boss, chat.Workspace{Kind: "slack", Team: "E9", Name: "whole", Tenant: kit.Tenant},
		chat.ChatTokens{Access: "org"}, now()))
	if got, err = t.Store.Workspace(t.Ctx, "slack", "T7", "E9"); err != nil || got.Team != "E9" {
		t.Errorf("an organisation's is %+v, %v", got, err)
	}

	// Tokens.
	k, err := t.Store.WorkspaceTokens(t.Ctx, "slack", "T1")
	t.Must(err)
	if k.Access != "xoxe.1" || k.Refresh != "xoxe-1" {
		t.Errorf("the tokens are %+v", k)
	}
	due, err := t.Store.WorkspacesDue(t.Ctx, "slack", soon.Add(time.Second))
	if err != nil || len(due) != 1 || due[0].Team != "T1" {
		t.Errorf("due: %+v, %v", due, err)
	}
	hold := func(version int64, holder string) bool {
		t.Helper()
		mine, err := t.Store.HoldRefresh(t.Ctx, "slack", "T1", version, holder, now(), now().Add(time.Minute))
		t.Must(err)
		return mine
	}
	if !hold(k.Version, "a") || hold(k.Version, "b") || hold(k.Version+1, "b") {
		t.Error("two servers refresh at once")
	}
	t.Must(t.Store.Refreshed(t.Ctx, "slack", "T1", k.Version, chat.ChatTokens{Access: "xoxe.2", Refresh: "xoxe-2", ExpiresAt: now().Add(12 * time.Hour)}, now()))
	t.Code(t.Store.Refreshed(t.Ctx, "slack", "T1", k.Version, chat.ChatTokens{Access: "xoxe.3"}, now()), app.EConflict)
	t.Must(t.Store.EndWorkspace(t.Ctx, boss, "slack", "T1", k.Version, chat.StateBroken, "late", now())) // of tokens that were replaced
	if k, err = t.Store.WorkspaceTokens(t.Ctx, "slack", "T1"); err != nil || k.Access != "xoxe.2" || !hold(k.Version, "b") {
		t.Errorf("after the refresh: %+v, %v", k, err)
	}
	t.Clock.Move(2 * time.Minute)
	if !hold(k.Version, "c") {
		t.Error("who died holds forever")
	}

	// Channels.
	c := chat.Channel{Kind: "slack", Team: "T1", Channel: "C1", Tenant: "blue", At: now()}
	half := c
	half.Guest = "eve"
	half, err = t.Store.SaveChannel(t.Ctx, other, half)
	t.Must(err)
	if half.Agreed() {
		t.Error("one side alone is enough")
	}
	if list, err := t.Store.Workspaces(t.Ctx, "slack", "blue"); err != nil || len(list) != 0 {
		t.Errorf("who only asks sees %+v, %v", list, err)
	}
	whole := c
	whole.Host = "boss"
	if whole, err = t.Store.SaveChannel(t.Ctx, boss, whole); err != nil || !whole.Agreed() || whole.Guest != "eve" {
		t.Errorf("agreed: %+v, %v", whole, err)
	}
	if list, err := t.Store.Workspaces(t.Ctx, "slack", "blue"); err != nil || len(list) != 1 || len(list[0].Channels) != 1 {
		t.Errorf("the channel's tenant sees %+v, %v", list, err)
	}
	third := c
	third.Tenant, third.Host = kit.Tenant+"x", "boss"
	_, err = t.Store.SaveChannel(t.Ctx, boss, third)
	t.Code(err, app.EConflict)

	t.chatShown(other)
	t.Must(t.Store.DropChannel(t.Ctx, boss, "slack", "T1", "C1", now()))
	t.Code(t.Store.DropChannel(t.Ctx, boss, "slack", "T1", "C1", now()), app.ENotFound)
	if _, err := t.Store.Approvals(t.Ctx, "blue"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("requests are still shown in a channel that was taken back: %v", err)
	}

	t.chatEnds(boss)
	// What another tenant installs then is that one's.
	t.Must(t.Store.SaveWorkspace(t.Ctx, other, w, chat.ChatTokens{Access: "new"}, now()))

	t.Must(t.Store.NoteLink(t.Ctx, chat.Connection{Server: "s1", Kind: "slack", State: "connected", Since: now(), SeenAt: now()}))
	t.Must(t.Store.NoteLink(t.Ctx, chat.Connection{Server: "s1", Kind: "slack", State: "down", Since: now(), SeenAt: now(), Error: "no"}))
	if links, err := t.Store.ChatLinks(t.Ctx, "slack", now().Add(-time.Second)); err != nil || len(links) != 1 || links[0].State != "down" {
		t.Errorf("links: %+v, %v", links, err)
	}
}

// chatEnds: what is kept of a workspace that was removed says why, and has neither tokens nor cards.
func (t *storeTest) chatEnds(boss app.Actor) {
	t.Helper()
	now := t.Clock.Now
	t.Must(t.Store.NoteWorkspace(t.Ctx, "slack", "T1", chat.Health{EventAt: now(), Calls: 3, CallsAt: now()}))
	t.Must(t.Store.NoteWorkspace(t.Ctx, "slack", "T1", chat.Health{Error: "oops", ErrorAt: now()}))
	op := t.Create("card", 1)
	t.Must(t.Store.SaveCard(t.Ctx, chat.Card{Kind: "slack", Team: "T1", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C5",
		At: now()}, now().Add(-time.Hour)))
	t.Must(t.Store.EndWorkspace(t.Ctx, boss, "slack", "T1", 0, chat.StateRemoved, "gone", now()))
	t.Must(t.Store.EndWorkspace(t.Ctx, boss, "slack", "T1", 0, chat.StateRemoved, "gone", now()))
	_, err := t.Store.WorkspaceTokens(t.Ctx, "slack", "T1")
	t.Code(err, app.ENotFound)
	cards, err := t.Store.Cards(t.Ctx, "slack", 10)
	t.Must(err)
	got, err := t.Store.Workspace(t.Ctx, "slack", "T1", "")
	t.Must(err)
	if len(cards) != 0 || got.State != chat.StateRemoved || got.Problem != "gone" || got.Calls != 3 || got.Error != "oops" || got.EventAt.IsZero() {
		t.Errorf("after its end: %+v, cards %+v", got, cards)
	}
}

// chatShown: an open request of a tenant with a channel for it is shown there once, and nowhere else.
func (t *storeTest) chatShown(other app.Actor) {
	now := t.Clock.Now
	open := func(in string) cluster.Request {
		t.Helper()
		r, err := t.Store.SaveRequest(t.Ctx, cluster.NewRequest{Who: app.Actor{Tenant: in, User: "ada", Role: app.RoleUser}, Kept: &cluster.RequestPayload{},
			Request: cluster.Request{Tenant: in, Kind: app.OperationCreate,
				Requester: "ada", Owner: "ada", RequestedAt: now(), Status: cluster.RequestWaiting, ExpiresAt: now().Add(time.Hour), Spec: cluster.CreateRequest{Name: "asked"},
				Approvals: []policy.RequiredApproval{{Policy: "p", Approval: policy.Approval{Count: 1, Role: app.RoleApprover}}}}})
		t.Must(err)
		return r
	}
	mine := open("blue")
	open(kit.Tenant) // has no channel
	t.Must(t.Store.SetApprovals(t.Ctx, other, chat.Approvals{Tenant: "blue", Kind: "slack", Team: "T1", Channel: "C1", SetBy: "eve", SetAt: now()}))
	long := now().Add(-time.Hour)
	for range 2 {
		t.Must(t.Store.OpenReviews(t.Ctx, "slack", now(), long))
	}
	list, err := t.Store.ChatReviews(t.Ctx, "slack", "T1", 10)
	t.Must(err)
	if len(list) != 1 || list[0].Request != mine.ID || list[0].Tenant != "blue" || list[0].Channel != "C1" || list[0].Status != cluster.RequestWaiting {
		t.Fatalf("shown: %+v", list)
	}
	before, r := list[0].State(), list[0]
	r.Message, r.Shown, r.ShownAt = "1.1", before, now()
	t.Must(t.Store.ShownReview(t.Ctx, r, false))
	_, err = t.Store.MoveRequest(t.Ctx, cluster.RequestMove{Tenant: "blue", ID: mine.ID, Act: cluster.RequestDeny,
		Who: app.Actor{Tenant: "blue", User: "bob", Role: app.RoleApprover}, Now: now(), Reason: "too much"})
	t.Must(err)
	list, err = t.Store.ChatReviews(t.Ctx, "slack", "T1", 10)
	t.Must(err)
	if len(list) != 1 || list[0].Message != "1.1" || list[0].Status != cluster.RequestDenied || list[0].Reviews != 1 || list[0].State() == before {
		t.Fatalf("after the review: %+v", list)
	}
	t.Must(t.Store.ShownReview(t.Ctx, list[0], true))
	t.Must(t.Store.OpenReviews(t.Ctx, "slack", now(), now().Add(time.Second)))
	if list, err = t.Store.ChatReviews(t.Ctx, "slack", "T1", 10); err != nil || len(list) != 0 {
		t.Errorf("after its end: %+v, %v", list, err)
	}
}

// chatLinks: an address that an identity provider has verified links to the one account that has it, and to no admin.
func (t *storeTest) chatLinks() {
	now := t.Clock.Now
	admit := func(name, email string, role app.Role) {
		t.Helper()
		_, err := t.Store.AdmitSubject(t.Ctx, identity.Subject{Provider: "idp", Label: "IdP", Issuer: "https://idp", ID: "sub-" + name, Name: name,
			Email: email, Grants: []identity.Grant{{Tenant: "blue", Role: role}}},
			identity.Grant{Tenant: "blue", Role: role}, now())
		t.Must(err)
	}
	t.Must(t.Store.CreateTenant(t.Ctx, app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin},
		identity.Tenant{Name: "blue", CreatedAt: now(), CreatedBy: "root"}, nil))
	admit("bob", "Bob@Example.com", app.RoleUser)
	admit("boss", "boss@example.com", app.RoleAdmin)
	admit("cy1", "cy@example.com", app.RoleUser)
	admit("cy2", "cy@example.com", app.RoleUser)
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: "blue", Name: "local", Email: "local@example.com", Role: app.RoleUser, CreatedAt: now()}))
	who := app.Actor{Tenant: "blue", User: "chat", Role: app.RoleAdmin}
	link := func(external, email string) bool {
		t.Helper()
		i := identity.Identity{Kind: "slack", External: external, Label: "Slack user", Tenant: "blue", At: now()}
		linked, err := t.Store.LinkByEmail(t.Ctx, who, i, email, []app.Role{app.RoleSuperadmin, app.RoleAdmin})
		t.Must(err)
		return linked
	}
	for external, email := range map[string]string{"T1/boss": "boss@example.com", "T1/cy": "cy@example.com", "T1/local": "local@example.com", "T1/none": "none@example.com"} {
		if link(external, email) {
			t.Errorf("%s is linked", email)
		}
	}
	if !link("T1/bob", "bob@example.com") || link("T1/bob", "bob@example.com") {
		t.Error("bob is not linked once")
	}
	i, u, err := t.Store.Identity(t.Ctx, "slack", "T1/bob")
	if err != nil || i.User != "bob" || u.Name != "bob" || u.Tenant != "blue" {
		t.Errorf("it is %+v, %+v, %v", i, u, err)
	}
}
