package chat

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/phrase"
)

// ChatState is how a workspace stands.
type ChatState string

// The states.
const (
	ChatConnected ChatState = "connected"
	ChatBroken    ChatState = "broken"  // its token cannot be used any more: it has to be installed again
	ChatRemoved   ChatState = "removed" // the app was removed there, or here
)

// InstallLife is how long an installation that was begun can be ended.
const InstallLife = 10 * time.Minute

// refreshBefore is how long before its end a token is refreshed; Slack's live for 12 hours.
const refreshBefore = 2 * time.Hour

// refreshHeld is for how long nobody else refreshes a token while one server does.
const refreshHeld = time.Minute

// ChatWorkspace is a workspace of a chat that Muster was installed into. Its tokens are never part of it.
type ChatWorkspace struct {
	Kind       string `json:"kind"`                 // of chat: "slack"
	Team       string `json:"team"`                 // the chat's id of it; of an installation for a whole organisation that one's
	Enterprise string `json:"enterprise,omitempty"` // the organisation's id; "" for none
	Name       string `json:"name"`
	// Tenant is whose it is. Channels of it may belong to others.
	Tenant string `json:"tenant"`
	App    string `json:"app,omitempty"`    // the id of our app there
	Bot    string `json:"bot,omitempty"`    // the bot's id as a person
	Scopes string `json:"scopes,omitempty"` // what it may do, with commas between
	// Fixed says that its token is a setting of the servers: it is neither refreshed nor removed here.
	Fixed bool `json:"fixed,omitempty"`
	// Email says that full members are linked to the account with the same verified address.
	Email       bool      `json:"email_links"`
	State       ChatState `json:"state"`
	Why         string    `json:"why,omitempty"` // it is not connected
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	InstalledBy string    `json:"installed_by,omitempty"`
	InstalledAt time.Time `json:"installed_at,omitzero"`
	ChangedAt   time.Time `json:"changed_at,omitzero"`

	ChatHealth
	Channels []ChatChannel `json:"channels,omitempty"`
}

// ChatHealth is how a workspace was doing lately.
type ChatHealth struct {
	EventAt      time.Time `json:"event_at,omitzero"` // when it was heard from last
	Error        string    `json:"error,omitempty"`   // the last one
	ErrorAt      time.Time `json:"error_at,omitzero"`
	Calls        int       `json:"calls"` // made in the minute before CallsAt
	CallsAt      time.Time `json:"calls_at,omitzero"`
	LimitedUntil time.Time `json:"limited_until,omitzero"` // the chat takes no calls before
}

// ChatTokens open a workspace. Version tells one pair from the next.
type ChatTokens struct {
	Access, Refresh string
	ExpiresAt       time.Time // of Access; zero: never
	Version         int64
}

// ChatChannel is a channel that belongs to another tenant than its workspace, once somebody of both wants that.
type ChatChannel struct {
	Kind    string    `json:"kind"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	Name    string    `json:"name,omitempty"`
	Tenant  string    `json:"tenant"`
	Host    string    `json:"host,omitempty"`  // who agreed for the workspace's tenant
	Guest   string    `json:"guest,omitempty"` // who agreed for the channel's
	At      time.Time `json:"at"`
}

// Agreed tells whether it counts.
func (c ChatChannel) Agreed() bool { return c.Host != "" && c.Guest != "" }

// ChatApprovals is the channel in which requests of a tenant are shown to those who approve them.
type ChatApprovals struct {
	Tenant  string    `json:"tenant"`
	Kind    string    `json:"kind"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	SetBy   string    `json:"set_by"`
	SetAt   time.Time `json:"set_at"`
}

// ChatLink is how a server is connected to a chat.
type ChatLink struct {
	Server string    `json:"server"`
	Kind   string    `json:"kind"`
	State  string    `json:"state"` // connected, connecting or down
	Since  time.Time `json:"since"`
	SeenAt time.Time `json:"seen_at"`
	Error  string    `json:"error,omitempty"`
}

// ChatInstall is an installation that was begun.
type ChatInstall struct {
	Tenant, User          string
	Session               int64
	At, ExpiresAt, UsedAt time.Time
}

// ChatHouse is all about chats that admins of a tenant look after.
type ChatHouse struct {
	Workspaces []ChatWorkspace `json:"workspaces"` // those of the tenant, and those with channels of it
	Approvals  *ChatApprovals  `json:"approvals,omitempty"`
	Links      []ChatLink      `json:"links,omitempty"`
}

// ChatWorkspaceStore keeps workspaces, their tokens and channels.
type ChatWorkspaceStore interface {
	SaveChatInstall(ctx context.Context, hash []byte, i ChatInstall) error
	// UseChatInstall uses one up, of the same account and sign-in. ENotFound where there is none, EConflict for one that was used
	// or is over.
	UseChatInstall(ctx context.Context, hash []byte, who app.Actor, session int64, at time.Time) error
	// SaveWorkspace keeps a workspace with new tokens. EConflict where it is another tenant's.
	SaveWorkspace(ctx context.Context, who app.Actor, w ChatWorkspace, t ChatTokens, at time.Time) error
	// SaveFixedWorkspace keeps the workspace whose token is a setting.
	SaveFixedWorkspace(ctx context.Context, w ChatWorkspace, at time.Time) error
	// Workspaces gives those of a tenant and those with channels of it, or all where it is "", by name, with their channels: all
	// of a workspace to its own tenant, to others theirs.
	Workspaces(ctx context.Context, kind, tenant string) ([]ChatWorkspace, error)
	// Workspace gives the one of a team, or else that of its organisation, without channels; ENotFound where neither is there.
	Workspace(ctx context.Context, kind, team, enterprise string) (ChatWorkspace, error)
	ChangeWorkspace(ctx context.Context, who app.Actor, kind, team string, email bool, at time.Time) error
	// WorkspaceTokens gives them; ENotFound where there are none.
	WorkspaceTokens(ctx context.Context, kind, team string) (ChatTokens, error)
	// HoldRefresh tells whether the holder is the one to refresh the tokens of a version, until some time.
	HoldRefresh(ctx context.Context, kind, team string, version int64, holder string, now, until time.Time) (bool, error)
	// Refreshed keeps new tokens instead of those of a version; EConflict where there are others by now.
	Refreshed(ctx context.Context, kind, team string, version int64, t ChatTokens, at time.Time) error
	// WorkspacesDue gives connected ones whose tokens end before a time and can be refreshed.
	WorkspacesDue(ctx context.Context, kind string, before time.Time) ([]ChatWorkspace, error)
	// EndWorkspace takes the tokens and drops all that was to be shown there. One that is ended, or not there, is success. With a version,
	// only while the tokens are of that.
	EndWorkspace(ctx context.Context, who app.Actor, kind, team string, version int64, state ChatState, why string, at time.Time) error
	// NoteWorkspace notes how it does; what is zero stays.
	NoteWorkspace(ctx context.Context, kind, team string, h ChatHealth) error

	// SaveChannel notes that a side wants a channel to be the tenant's. Agreement to another tenant is dropped by that.
	SaveChannel(ctx context.Context, who app.Actor, c ChatChannel) (ChatChannel, error)
	// DropChannel gives a channel back to its workspace; ENotFound where it is so already.
	DropChannel(ctx context.Context, who app.Actor, kind, team, channel string, at time.Time) error
	// Channel gives one; ENotFound where it belongs to its workspace.
	Channel(ctx context.Context, kind, team, channel string) (ChatChannel, error)
	// SetApprovals sets where requests of the actor's tenant are shown; nowhere where Channel is "".
	SetApprovals(ctx context.Context, who app.Actor, a ChatApprovals) error
	// Approvals gives it; ENotFound where it is nowhere.
	Approvals(ctx context.Context, tenant string) (ChatApprovals, error)

	// NoteLink notes how a server is connected; Links gives those noted since.
	NoteLink(ctx context.Context, l ChatLink) error
	ChatLinks(ctx context.Context, kind string, since time.Time) ([]ChatLink, error)
}

// linkSilent is how long a server's connection is shown that is not heard of any more.
const linkSilent = 5 * time.Minute

// ChatHouse gives what there is about a chat in the actor's tenant.
func (a *Service) ChatHouse(ctx context.Context, actor app.Actor, kind string) (h ChatHouse, err error) {
	if err := actor.Authorize("ChatHouse"); err != nil {
		return h, err
	}
	if h.Workspaces, err = a.Store.Workspaces(ctx, kind, actor.Tenant); err != nil {
		return h, err
	}
	p, err := a.Store.Approvals(ctx, actor.Tenant)
	if err == nil && p.Kind == kind {
		h.Approvals = &p
	}
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return h, err
	}
	h.Links, err = a.Store.ChatLinks(ctx, kind, a.Now().Add(-linkSilent))
	return h, err
}

// StartChatInstall begins an installation into a workspace. What it gives goes to the chat and comes back from there: it works
// once, within InstallLife, and for the same sign-in only, so that nobody can have a workspace of their own installed by an admin
// who was sent a link. Only a hash of it is kept.
func (a *Service) StartChatInstall(ctx context.Context, actor app.Actor) (state string, err error) {
	if err := actor.Authorize("StartChatInstall"); err != nil {
		return "", err
	}
	session, err := actor.SessionID()
	if err != nil {
		return "", err
	}
	state = strings.ToLower(rand.Text() + rand.Text())
	now := a.Now()
	return state, a.Store.SaveChatInstall(ctx, identity.HashToken(state), ChatInstall{Tenant: actor.Tenant, User: actor.Name(), Session: session, At: now, ExpiresAt: now.Add(InstallLife)})
}

// InstallChat ends an installation: exchange gets the tokens from the chat once the state has proved to be the actor's.
func (a *Service) InstallChat(ctx context.Context, actor app.Actor, state string, exchange func(ctx context.Context) (ChatWorkspace, ChatTokens, error)) (ChatWorkspace, error) {
	if err := actor.Authorize("InstallChat"); err != nil {
		return ChatWorkspace{}, err
	}
	session, err := actor.SessionID()
	if err != nil {
		return ChatWorkspace{}, err
	}
	if err := a.Store.UseChatInstall(ctx, identity.HashToken(state), actor, session, a.Now()); err != nil {
		return ChatWorkspace{}, err
	}
	w, t, err := exchange(ctx)
	if err != nil {
		return w, err
	}
	w.Tenant, w.State, w.InstalledBy, w.ExpiresAt = actor.Tenant, ChatConnected, actor.Name(), t.ExpiresAt
	if err := a.Store.SaveWorkspace(ctx, actor, w, t, a.Now()); err != nil {
		return w, err
	}
	return a.Store.Workspace(ctx, w.Kind, w.Team, "")
}

// CheckWorkspace refuses a workspace that another tenant has installed. Stores ask it in the transaction that keeps it.
func (w ChatWorkspace) CheckWorkspace(who app.Actor) error {
	if w.Tenant == who.Tenant || w.State == ChatRemoved {
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "other_tenant", Message: fmt.Sprintf("The workspace %q was installed by another tenant.", w.Name),
		Hint: "Its admins can remove it there first, or give you a channel of it."}
}

// own gives a workspace of the actor's tenant; of others nothing is told.
func (a *Service) ownWorkspace(ctx context.Context, actor app.Actor, kind, team string) (ChatWorkspace, error) {
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if err == nil && w.Tenant != actor.Tenant {
		err = app.Errorf(app.ENotFound, "There is no workspace %q in this tenant.", phrase.CutText(team, 40))
	}
	return w, err
}

// ChangeWorkspace says whether full members of a workspace of the tenant are linked by their verified addresses.
func (a *Service) ChangeWorkspace(ctx context.Context, actor app.Actor, kind, team string, email bool) (ChatWorkspace, error) {
	if err := actor.Authorize("ChangeWorkspace"); err != nil {
		return ChatWorkspace{}, err
	}
	if _, err := a.ownWorkspace(ctx, actor, kind, team); err != nil {
		return ChatWorkspace{}, err
	}
	if err := a.Store.ChangeWorkspace(ctx, actor, kind, team, email, a.Now()); err != nil {
		return ChatWorkspace{}, err
	}
	return a.Store.Workspace(ctx, kind, team, "")
}

// RemoveWorkspace forgets the tokens of a workspace of the tenant and stops its cards.
func (a *Service) RemoveWorkspace(ctx context.Context, actor app.Actor, kind, team string) error {
	if err := actor.Authorize("RemoveWorkspace"); err != nil {
		return err
	}
	w, err := a.ownWorkspace(ctx, actor, kind, team)
	if err != nil {
		return err
	}
	if w.Fixed {
		return &app.Error{Code: app.EConflict, Reason: "fixed", Message: "The token of this workspace is a setting of the servers.", Hint: "Take SLACK_BOT_TOKEN out of their environment."}
	}
	return a.Store.EndWorkspace(ctx, actor, kind, team, 0, ChatRemoved, "It was removed by "+actor.Name()+".", a.Now())
}

// A channel that is given to a tenant belongs to it as soon as an admin of that tenant and one of the workspace's want it; superadmins
// are both.

// UseChannel says that a channel of a workspace shall be the actor's tenant's, or, of an admin of the workspace's own tenant, that it
// may be another's.
func (a *Service) UseChannel(ctx context.Context, actor app.Actor, c ChatChannel) (ChatChannel, error) {
	if err := actor.Authorize("UseChannel"); err != nil {
		return c, err
	}
	if err := checkChannel(c.Channel); err != nil {
		return c, err
	}
	if err := identity.CheckTenantName(c.Tenant); err != nil {
		return c, err
	}
	w, err := a.Store.Workspace(ctx, c.Kind, c.Team, "")
	if err != nil {
		return c, err
	}
	c.Host, c.Guest, c.At = "", "", a.Now()
	whole := actor.Role == app.RoleSuperadmin
	if whole || actor.Tenant == w.Tenant {
		c.Host = actor.Name()
	}
	if whole || actor.Tenant == c.Tenant {
		c.Guest = actor.Name()
	}
	switch {
	case c.Host == "" && c.Guest == "":
		return c, &app.Error{Code: app.ENotFound, Reason: "other_tenant", Message: "You look after neither this workspace nor that tenant."}
	case c.Tenant == w.Tenant:
		if err := a.Store.DropChannel(ctx, actor, c.Kind, c.Team, c.Channel, c.At); err != nil && app.CodeOf(err) != app.ENotFound {
			return c, err
		}
		c.Host, c.Guest = actor.Name(), actor.Name()
		return c, nil
	}
	if c.Host != "" { // whoever asks from the other side learns nothing of which tenants there are
		if _, err := a.Store.Tenant(ctx, c.Tenant); err != nil {
			return c, err
		}
	}
	return a.Store.SaveChannel(ctx, actor, c)
}

// ResetChannel gives a channel back to the tenant of its workspace, for admins of either.
func (a *Service) ResetChannel(ctx context.Context, actor app.Actor, kind, team, channel string) error {
	if err := actor.Authorize("ResetChannel"); err != nil {
		return err
	}
	none := app.Errorf(app.ENotFound, "The channel %s belongs to its workspace.", phrase.CutText(channel, 40))
	c, err := a.Store.Channel(ctx, kind, team, channel)
	if err != nil {
		return err
	}
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if err != nil {
		return err
	}
	if actor.Role != app.RoleSuperadmin && actor.Tenant != c.Tenant && actor.Tenant != w.Tenant {
		return none
	}
	return a.Store.DropChannel(ctx, actor, kind, team, channel, a.Now())
}

// SetApprovals says in which channel the tenant's requests are shown to those who approve them; with no channel nowhere. The channel
// must speak for the tenant: what is asked for is nobody else's to read.
func (a *Service) SetApprovals(ctx context.Context, actor app.Actor, p ChatApprovals) error {
	if err := actor.Authorize("SetApprovals"); err != nil {
		return err
	}
	p.Tenant, p.SetBy, p.SetAt = actor.Tenant, actor.Name(), a.Now()
	if p.Channel == "" {
		return a.Store.SetApprovals(ctx, actor, p)
	}
	if err := checkChannel(p.Channel); err != nil {
		return err
	}
	w, err := a.Store.Workspace(ctx, p.Kind, p.Team, "")
	if err != nil {
		return err
	}
	tenant, err := a.ChatTenant(ctx, w, p.Channel)
	if err != nil {
		return err
	}
	switch {
	case tenant != actor.Tenant && w.Tenant != actor.Tenant:
		return app.Errorf(app.ENotFound, "This tenant has no channel %s.", phrase.CutText(p.Channel, 40))
	case tenant != actor.Tenant:
		return &app.Error{Code: app.EForbidden, Reason: "other_tenant", Field: "channel", Message: "That channel does not speak for this tenant.",
			Hint: "Choose one of a workspace of the tenant, or have the channel given to the tenant first."}
	}
	return a.Store.SetApprovals(ctx, actor, p)
}

// checkChannel refuses what is no id of a channel.
func checkChannel(id string) error {
	ok := len(id) >= 2 && len(id) <= 40 && (id[0] == 'C' || id[0] == 'G') && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	if !ok {
		return &app.Error{Code: app.EInvalid, Field: "channel", Message: fmt.Sprintf("“%s” is not the id of a channel.", phrase.CutText(id, 40)),
			Hint: "It looks like C024BE91L, and stands at the foot of the channel's details."}
	}
	return nil
}

// ChatTenant gives in whose name a channel of a workspace speaks.
func (a *Service) ChatTenant(ctx context.Context, w ChatWorkspace, channel string) (string, error) {
	if channel == "" {
		return w.Tenant, nil
	}
	c, err := a.Store.Channel(ctx, w.Kind, w.Team, channel)
	switch {
	case app.CodeOf(err) == app.ENotFound, err == nil && !c.Agreed():
		return w.Tenant, nil
	case err != nil:
		return "", err
	}
	return c.Tenant, nil
}

// ChatTenants gives all tenants in whose name a workspace speaks somewhere; its own first.
func (a *Service) ChatTenants(ctx context.Context, w ChatWorkspace) ([]string, error) {
	list, err := a.Store.Workspaces(ctx, w.Kind, w.Tenant)
	if err != nil {
		return nil, err
	}
	all := []string{w.Tenant}
	for _, l := range list {
		for _, c := range l.Channels {
			if l.Team == w.Team && c.Agreed() && !slices.Contains(all, c.Tenant) {
				all = append(all, c.Tenant)
			}
		}
	}
	return all, nil
}
