package chat

import (
	"context"
	"time"

	"muster/app"
)

// TokenStore keeps tokens of workspaces.
type TokenStore interface {
	// EndWorkspace takes the tokens and drops all that was to be shown there. One that is ended, or not there, is success. With a version,
	// only while the tokens are of that.
	EndWorkspace(ctx context.Context, who app.Actor, kind, team string, version int64, state State, why string, at time.Time) error
	// HoldRefresh reports whether the holder is the one to refresh the tokens of a version, until some time.
	HoldRefresh(ctx context.Context, kind, team string, version int64, holder string, now, until time.Time) (bool, error)
	// Refreshed keeps new tokens instead of those of a version; EConflict where there are others by now.
	Refreshed(ctx context.Context, kind, team string, version int64, t ChatTokens, at time.Time) error
	// Workspace returns the one of a team, or else that of its organisation, without channels; ENotFound where neither is there.
	Workspace(ctx context.Context, kind, team, enterprise string) (Workspace, error)
	// WorkspaceTokens returns them; ENotFound where there are none.
	WorkspaceTokens(ctx context.Context, kind, team string) (ChatTokens, error)
	// WorkspacesDue returns connected ones whose tokens end before a time and can be refreshed.
	WorkspacesDue(ctx context.Context, kind string, before time.Time) ([]Workspace, error)
}

// TokensConfig is what Tokens is created from. Only what says so may be nil.
type TokensConfig struct {
	Store TokenStore
	Now   func() time.Time
}

// Tokens are what Muster acts with in workspaces.
type Tokens struct {
	TokensConfig
}

// NewTokens returns them on top of what c holds.
func NewTokens(c TokensConfig) *Tokens { return &Tokens{TokensConfig: c} }

// What a chat's own face asks for, on behalf of no one.

// slackServer is in the audit for what a chat reported by itself, such as that our app was removed there.
const chatServer = "chat"

// ChatTokens returns the tokens of a workspace; ECredentials where there are none.
func (a *Tokens) ChatTokens(ctx context.Context, kind, team string) (ChatTokens, error) {
	t, err := a.Store.WorkspaceTokens(ctx, kind, team)
	if app.CodeOf(err) == app.ENotFound {
		err = &app.Error{Code: app.ECredentials, Reason: "no_token", Message: "This workspace has no token.", Hint: "Ask an admin to install Muster in the workspace again."}
	}
	return t, err
}

// ChatTokensDue returns the workspaces whose tokens are to be refreshed by now, long before they end.
func (a *Tokens) ChatTokensDue(ctx context.Context, kind string) ([]Workspace, error) {
	return a.Store.WorkspacesDue(ctx, kind, a.Now().Add(refreshBefore))
}

// RefreshChatTokens has the tokens of a workspace refreshed if they are due and no one else is at it, and returns those that count then.
// A refresh token works once, so it is held by one server at a time; refresh asks the chat, and returns ECredentials where the chat takes the
// token no more. Where the server dies between the chat's answer and our note of it, the next try fails by that: the workspace
// is marked broken, and has to be installed again.
func (a *Tokens) RefreshChatTokens(ctx context.Context, kind, team, holder string, refresh func(ctx context.Context, token string) (ChatTokens, error)) (ChatTokens, error) {
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
			e = a.Store.EndWorkspace(ctx, app.System(w.Tenant, chatServer), kind, team, t.Version, StateBroken, "The token couldn't be refreshed.", a.Now())
		}
		if e != nil {
			return t, e
		}
	}
	if err != nil {
		return t, err
	}
	// What the chat has given out is kept also when the one who asked has left.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.Store.Refreshed(keep, kind, team, t.Version, next, a.Now()); err != nil {
		return t, err
	}
	return a.ChatTokens(keep, kind, team)
}
