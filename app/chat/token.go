package chat

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/phrase"
)

// What a chat's own face asks for, on behalf of nobody.

// slackServer stands in the audit for what a chat told by itself, such as that our app was removed there.
const chatServer = "chat"

// ChatWorkspace gives the workspace of a team, or else that of its organisation; ENotFound where Muster was installed in neither.
func (a *Service) ChatWorkspace(ctx context.Context, kind, team, enterprise string) (ChatWorkspace, error) {
	return a.Store.Workspace(ctx, kind, team, enterprise)
}

// ChatWorkspaces gives all of a kind.
func (a *Service) ChatWorkspaces(ctx context.Context, kind string) ([]ChatWorkspace, error) {
	return a.Store.Workspaces(ctx, kind, "")
}

// KeepFixedWorkspace keeps the workspace whose token is a setting of the servers.
func (a *Service) KeepFixedWorkspace(ctx context.Context, w ChatWorkspace) error {
	w.Fixed, w.State = true, ChatConnected
	return a.Store.SaveFixedWorkspace(ctx, w, a.Now())
}

// ChatTokens gives the tokens of a workspace; ECredentials where there are none.
func (a *Service) ChatTokens(ctx context.Context, kind, team string) (ChatTokens, error) {
	t, err := a.Store.WorkspaceTokens(ctx, kind, team)
	if app.CodeOf(err) == app.ENotFound {
		err = &app.Error{Code: app.ECredentials, Reason: "no_token", Message: "There is no token for this workspace.", Hint: "An admin has to install Muster there (again)."}
	}
	return t, err
}

// ChatTokensDue gives the workspaces whose tokens are to be refreshed by now, long before they end.
func (a *Service) ChatTokensDue(ctx context.Context, kind string) ([]ChatWorkspace, error) {
	return a.Store.WorkspacesDue(ctx, kind, a.Now().Add(refreshBefore))
}

// RefreshChatTokens has the tokens of a workspace refreshed if they are due and nobody else is at it, and gives those that count then.
// A refresh token works once, so it is held by one server at a time; refresh asks the chat, and gives ECredentials where the chat takes the
// token no more. Where the server dies between the chat's answer and our note of it, the next try fails by that: the workspace
// is marked broken, and has to be installed again.
func (a *Service) RefreshChatTokens(ctx context.Context, kind, team, holder string, refresh func(ctx context.Context, token string) (ChatTokens, error)) (ChatTokens, error) {
	t, err := a.ChatTokens(ctx, kind, team)
	if err != nil || t.ExpiresAt.IsZero() || t.Refresh == "" || a.Now().Add(refreshBefore).Before(t.ExpiresAt) {
		return t, err
	}
	now := a.Now()
	mine, err := a.Store.HoldRefresh(ctx, kind, team, t.Version, holder, now, now.Add(refreshHeld))
	if err != nil || !mine {
		return t, err
	}
	next, err := refresh(ctx, t.Refresh)
	if app.CodeOf(err) == app.ECredentials {
		w, e := a.Store.Workspace(ctx, kind, team, "")
		if e == nil {
			e = a.Store.EndWorkspace(ctx, app.System(w.Tenant, chatServer), kind, team, t.Version, ChatBroken, "Its token could not be refreshed.", a.Now())
		}
		if e != nil {
			return t, e
		}
	}
	if err != nil {
		return t, err
	}
	// What the chat has given out is kept also when whoever asked has left.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.Store.Refreshed(keep, kind, team, t.Version, next, a.Now()); err != nil {
		return t, err
	}
	return a.ChatTokens(keep, kind, team)
}

// ChatGone is told by a chat: our app was removed from a workspace, or its tokens do not count any more. Tokens and cards go.
func (a *Service) ChatGone(ctx context.Context, kind, team, why string) error {
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Store.EndWorkspace(ctx, app.System(w.Tenant, chatServer), kind, team, 0, ChatRemoved, why, a.Now())
}

// NoteChat notes how a workspace does. Nothing secret stands in it.
func (a *Service) NoteChat(ctx context.Context, kind, team string, h ChatHealth) error {
	h.Error = phrase.CutText(strings.ToValidUTF8(h.Error, "�"), 300)
	return a.Store.NoteWorkspace(ctx, kind, team, h)
}

// NoteChatLink notes how a server is connected to a chat.
func (a *Service) NoteChatLink(ctx context.Context, l ChatLink) error {
	l.Error, l.SeenAt = phrase.CutText(strings.ToValidUTF8(l.Error, "�"), 300), a.Now()
	return a.Store.NoteLink(ctx, l)
}

// LinkByEmail ties somebody of a chat to the account of a tenant that an identity provider has verified the same address of, and
// gives whether there was one. Admins are left out, since whoever looks after a chat could otherwise become one; so are accounts
// that share an address.
func (a *Service) LinkByEmail(ctx context.Context, kind, external, label, tenant, email string) (bool, error) {
	if identity.CheckEmail(email) != nil || email == "" {
		return false, nil
	}
	i := identity.Identity{Kind: kind, External: external, Label: phrase.CutText(label, identity.MaxLabel), Tenant: tenant, At: a.Now()}
	return a.Store.LinkByEmail(ctx, app.System(tenant, chatServer), i, email, []app.Role{app.RoleSuperadmin, app.RoleAdmin, app.RoleRobot})
}

// ChatHomeTenant gives in whose name a workspace speaks to somebody where there is no channel, as in a home or directly: that of their account
// where it is one of the workspace's, else the workspace's own.
func (a *Service) ChatHomeTenant(ctx context.Context, w ChatWorkspace, external string) (string, error) {
	i, _, err := a.Store.Identity(ctx, w.Kind, external)
	if app.CodeOf(err) == app.ENotFound || err == nil && i.Tenant == w.Tenant {
		return w.Tenant, nil
	}
	if err != nil {
		return "", err
	}
	all, err := a.ChatTenants(ctx, w)
	if err == nil && slices.Contains(all, i.Tenant) {
		return i.Tenant, nil
	}
	return w.Tenant, err
}
