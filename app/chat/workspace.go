package chat

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// WorkspaceStore keeps workspaces.
type WorkspaceStore interface {
	ChangeWorkspace(ctx context.Context, who app.Actor, kind, team string, email bool, at time.Time) error
	// EndWorkspace takes the tokens and drops all that was to be shown there. One that is ended, or not there, is success. With a version,
	// only while the tokens are of that.
	EndWorkspace(ctx context.Context, who app.Actor, kind, team string, version int64, state State, why string, at time.Time) error
	// NoteWorkspace notes how it does; what is zero stays.
	NoteWorkspace(ctx context.Context, kind, team string, h Health) error
	SaveChatInstall(ctx context.Context, hash []byte, i Install) error
	// SaveFixedWorkspace keeps the workspace whose token is a setting.
	SaveFixedWorkspace(ctx context.Context, w Workspace, at time.Time) error
	// SaveWorkspace keeps a workspace with new tokens. EConflict where it is another tenant's.
	SaveWorkspace(ctx context.Context, who app.Actor, w Workspace, t ChatTokens, at time.Time) error
	// UseChatInstall uses one up, of the same account and sign-in. ENotFound where there is none, EConflict for one that was used
	// or is over.
	UseChatInstall(ctx context.Context, hash []byte, who app.Actor, session int64, at time.Time) error
	// Workspace returns the one of a team, or else that of its organisation, without channels; ENotFound where neither is there.
	Workspace(ctx context.Context, kind, team, enterprise string) (Workspace, error)
	// Workspaces returns those of a tenant and those with channels of it, or all where it is "", by name, with their channels: all
	// of a workspace to its own tenant, to others theirs.
	Workspaces(ctx context.Context, kind, tenant string) ([]Workspace, error)
}

// WorkspacesConfig is what Workspaces is created from. Only what says so may be nil.
type WorkspacesConfig struct {
	Store WorkspaceStore
	Now   func() time.Time
}

// Workspaces are chat workspaces into which Muster is installed.
type Workspaces struct {
	WorkspacesConfig
}

// NewWorkspaces returns them on top of what c holds.
func NewWorkspaces(c WorkspacesConfig) *Workspaces { return &Workspaces{WorkspacesConfig: c} }

// State is the state of a workspace.
type State string

// The states.
const (
	StateConnected State = "connected"
	StateBroken    State = "broken"  // its token cannot be used any more: it has to be installed again
	StateRemoved   State = "removed" // the app was removed there, or here
)

// installLife is how long an installation that was begun can be ended.
const installLife = 10 * time.Minute

// refreshBefore is how long before its end a token is refreshed; Slack's live for 12 hours.
const refreshBefore = 2 * time.Hour

// refreshHeld is for how long no one else refreshes a token while one server does.
const refreshHeld = time.Minute

// Workspace is a workspace of a chat that Muster was installed into. Its tokens are never part of it.
type Workspace struct {
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
	State       State     `json:"state"`
	Problem     string    `json:"problem,omitempty"` // it is not connected
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	InstalledBy string    `json:"installed_by,omitempty"`
	InstalledAt time.Time `json:"installed_at,omitzero"`
	ChangedAt   time.Time `json:"changed_at,omitzero"`

	Health
	Channels []Channel `json:"channels,omitempty"`
}

// Health is how a workspace was doing recently.
type Health struct {
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

// Install is an installation that was begun.
type Install struct {
	Tenant, User          string
	Session               int64
	At, ExpiresAt, UsedAt time.Time
}

// linkSilent is how long a server's connection is shown that is not heard of any more.
const linkSilent = 5 * time.Minute

// StartChatInstall begins an installation into a workspace. What it returns goes to the chat and comes back from there: it works
// once, within installLife, and for the same sign-in only, so that no one can have a workspace of their own installed by an admin
// who was sent a link. Only a hash of it is kept.
func (a *Workspaces) StartChatInstall(ctx context.Context, actor app.Actor) (state string, err error) {
	if err := actor.Authorize("StartChatInstall"); err != nil {
		return "", err
	}
	session, err := actor.SessionID()
	if err != nil {
		return "", err
	}
	state = strings.ToLower(rand.Text() + rand.Text())
	now := a.Now()
	return state, a.Store.SaveChatInstall(ctx, identity.HashToken(state), Install{Tenant: actor.Tenant, User: actor.Name(), Session: session, At: now, ExpiresAt: now.Add(installLife)})
}

// InstallChat ends an installation: exchange gets the tokens from the chat once the state has proved to be the actor's.
func (a *Workspaces) InstallChat(ctx context.Context, actor app.Actor, state string, exchange func(ctx context.Context) (Workspace, ChatTokens, error)) (Workspace, error) {
	if err := actor.Authorize("InstallChat"); err != nil {
		return Workspace{}, err
	}
	session, err := actor.SessionID()
	if err != nil {
		return Workspace{}, err
	}
	if err := a.Store.UseChatInstall(ctx, identity.HashToken(state), actor, session, a.Now()); err != nil {
		return Workspace{}, err
	}
	w, t, err := exchange(ctx)
	if err != nil {
		return w, err
	}
	w.Tenant, w.State, w.InstalledBy, w.ExpiresAt = actor.Tenant, StateConnected, actor.Name(), t.ExpiresAt
	if err := a.Store.SaveWorkspace(ctx, actor, w, t, a.Now()); err != nil {
		return w, err
	}
	return a.Store.Workspace(ctx, w.Kind, w.Team, "")
}

// CheckWorkspace refuses a workspace that another tenant has installed. Stores ask it in the transaction that keeps it.
func (w Workspace) CheckWorkspace(who app.Actor) error {
	if w.Tenant == who.Tenant || w.State == StateRemoved {
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "other_tenant", Message: fmt.Sprintf("Workspace %q belongs to another tenant.", w.Name),
		Hint: "That tenant's admins can remove it first, or assign one of its channels to you."}
}

// own returns a workspace of the actor's tenant; of others nothing is reported.
func (a *Workspaces) ownWorkspace(ctx context.Context, actor app.Actor, kind, team string) (Workspace, error) {
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if err == nil && w.Tenant != actor.Tenant {
		err = app.Errorf(app.ENotFound, "Workspace %q doesn't exist in this tenant.", humanize.CutText(team, 40))
	}
	return w, err
}

// ChangeWorkspace says whether full members of a workspace of the tenant are linked by their verified addresses.
func (a *Workspaces) ChangeWorkspace(ctx context.Context, actor app.Actor, kind, team string, email bool) (Workspace, error) {
	if err := actor.Authorize("ChangeWorkspace"); err != nil {
		return Workspace{}, err
	}
	if _, err := a.ownWorkspace(ctx, actor, kind, team); err != nil {
		return Workspace{}, err
	}
	if err := a.Store.ChangeWorkspace(ctx, actor, kind, team, email, a.Now()); err != nil {
		return Workspace{}, err
	}
	return a.Store.Workspace(ctx, kind, team, "")
}

// RemoveWorkspace forgets the tokens of a workspace of the tenant and stops its cards.
func (a *Workspaces) RemoveWorkspace(ctx context.Context, actor app.Actor, kind, team string) error {
	if err := actor.Authorize("RemoveWorkspace"); err != nil {
		return err
	}
	w, err := a.ownWorkspace(ctx, actor, kind, team)
	if err != nil {
		return err
	}
	if w.Fixed {
		return &app.Error{Code: app.EConflict, Reason: "fixed", Message: "This workspace's token comes from the servers' environment.", Hint: "Remove SLACK_BOT_TOKEN from the environment."}
	}
	return a.Store.EndWorkspace(ctx, actor, kind, team, 0, StateRemoved, "Removed by "+actor.Name()+".", a.Now())
}

// A channel that is given to a tenant belongs to it as soon as an admin of that tenant and one of the workspace's want it; superadmins
// are both.

// Workspace returns the workspace of a team, or else that of its organisation; ENotFound where Muster was installed in neither.
func (a *Workspaces) ChatWorkspace(ctx context.Context, kind, team, enterprise string) (Workspace, error) {
	return a.Store.Workspace(ctx, kind, team, enterprise)
}

// ChatWorkspaces returns all of a kind.
func (a *Workspaces) ChatWorkspaces(ctx context.Context, kind string) ([]Workspace, error) {
	return a.Store.Workspaces(ctx, kind, "")
}

// KeepFixedWorkspace keeps the workspace whose token is a setting of the servers.
func (a *Workspaces) KeepFixedWorkspace(ctx context.Context, w Workspace) error {
	w.Fixed, w.State = true, StateConnected
	return a.Store.SaveFixedWorkspace(ctx, w, a.Now())
}

// ChatGone is reported by a chat: our app was removed from a workspace, or its tokens do not count any more. Tokens and cards go.
func (a *Workspaces) ChatGone(ctx context.Context, kind, team, why string) error {
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Store.EndWorkspace(ctx, app.System(w.Tenant, chatServer), kind, team, 0, StateRemoved, why, a.Now())
}

// NoteChat notes how a workspace does. Nothing secret is in it.
func (a *Workspaces) NoteChat(ctx context.Context, kind, team string, h Health) error {
	h.Error = humanize.CutText(strings.ToValidUTF8(h.Error, "�"), 300)
	return a.Store.NoteWorkspace(ctx, kind, team, h)
}
