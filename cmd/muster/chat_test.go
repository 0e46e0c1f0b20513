package main

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/identity"
)

// A channel goes to another tenant when someone of both sides wants that, and comes back when either does.
func TestChannelsByConsent(t *testing.T) {
	m := newMatrix(t)
	a, ctx := m.server.Services, t.Context()
	actor := func(tenant string, role app.Role) app.Actor {
		return app.Actor{Tenant: tenant, User: string(role) + "-" + tenant, Role: role, ProvenAt: time.Now()}
	}
	host, guest, user, root := actor(here, app.RoleAdmin), actor(there, app.RoleAdmin), actor(there, app.RoleUser), actor(here, app.RoleSuperadmin)
	if _, _, err := a.Identity.Tenants.CreateTenant(ctx, root, identity.NewTenant{Name: "third"}); err != nil {
		t.Fatal(err)
	}
	stranger := actor("third", app.RoleAdmin)
	if err := m.server.Store.SaveWorkspace(ctx, host, chat.Workspace{Kind: "slack", Team: "T1", Name: "acme", Tenant: here}, chat.ChatTokens{Access: "xoxb-1"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	speaks := func() string {
		t.Helper()
		w, err := a.Chat.Workspaces.ChatWorkspace(ctx, "slack", "T1", "")
		if err != nil {
			t.Fatal(err)
		}
		tenant, err := a.Chat.Channels.ChatTenant(ctx, w, "C1")
		if err != nil {
			t.Fatal(err)
		}
		return tenant
	}
	c := chat.Channel{Kind: "slack", Team: "T1", Channel: "C1", Tenant: there}
	refused := func(who app.Actor, code app.Code) {
		t.Helper()
		if _, err := a.Chat.Channels.UseChannel(ctx, who, c); app.CodeOf(err) != code {
			t.Errorf("%s may ask for the channel: %v", who.User, err)
		}
	}
	refused(user, app.EForbidden)
	refused(stranger, app.ENotFound)
	for _, bad := range []chat.Channel{{Kind: "slack", Team: "T1", Channel: "general", Tenant: there}, {Kind: "slack", Team: "T1", Channel: "C1", Tenant: "No"},
		{Kind: "slack", Team: "T1", Channel: "C1/../x", Tenant: there}} {
		if _, err := a.Chat.Channels.UseChannel(ctx, host, bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%+v is taken: %v", bad, err)
		}
	}
	got, err := a.Chat.Channels.UseChannel(ctx, guest, c)
	if err != nil || got.Agreed() || speaks() != here {
		t.Fatalf("one side alone: %+v, %v, it speaks for %s", got, err, speaks())
	}
	if err := a.Chat.Channels.SetApprovals(ctx, guest, chat.Approvals{Kind: "slack", Team: "T1", Channel: "C1"}); app.CodeOf(err) != app.ENotFound {
		t.Errorf("requests are posted without agreement: %v", err)
	}
	if got, err = a.Chat.Channels.UseChannel(ctx, host, c); err != nil || !got.Agreed() || speaks() != there {
		t.Fatalf("both sides: %+v, %v, it speaks for %s", got, err, speaks())
	}
	if err := a.Chat.Channels.SetApprovals(ctx, guest, chat.Approvals{Kind: "slack", Team: "T1", Channel: "C1"}); err != nil {
		t.Error(err)
	}
	if err := a.Chat.Channels.SetApprovals(ctx, host, chat.Approvals{Kind: "slack", Team: "T1", Channel: "C1"}); app.CodeOf(err) != app.EForbidden {
		t.Errorf("the workspace's tenant shows its requests in a channel of another: %v", err)
	}
	// Neither side can assign it to a third tenant alone.
	if _, err := a.Chat.Channels.UseChannel(ctx, host, chat.Channel{Kind: "slack", Team: "T1", Channel: "C1", Tenant: "third"}); app.CodeOf(err) != app.EConflict {
		t.Errorf("the channel was given away behind its tenant's back: %v", err)
	}
	if err := a.Chat.Channels.ResetChannel(ctx, stranger, "slack", "T1", "C1"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("a stranger takes it: %v", err)
	}
	if err := a.Chat.Channels.ResetChannel(ctx, user, "slack", "T1", "C1"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a user resets it: %v", err)
	}
	if err := a.Chat.Channels.ResetChannel(ctx, guest, "slack", "T1", "C1"); err != nil || speaks() != here {
		t.Errorf("given back: %v, it speaks for %s", err, speaks())
	}
	// A superadmin is both sides.
	if got, err = a.Chat.Channels.UseChannel(ctx, root, c); err != nil || !got.Agreed() || speaks() != there {
		t.Errorf("a superadmin alone: %+v, %v", got, err)
	}
	if h, err := a.Chat.Channels.ChatSettings(ctx, guest, "slack"); err != nil || len(h.Workspaces) != 1 || len(h.Workspaces[0].Channels) != 1 || h.Approvals != nil {
		t.Errorf("the channel's tenant sees %+v, %v", h, err)
	}
	if err := a.Chat.Workspaces.RemoveWorkspace(ctx, guest, "slack", "T1"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("the channel's tenant removes the workspace: %v", err)
	}
}
