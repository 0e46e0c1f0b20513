package identity

import (
	"context"
	"time"

	"muster/app"
)

// Token is an API token as people see it. The token itself is told once, when it is made, and is kept nowhere.
type Token struct {
	ID     int64       `json:"id"`
	Tenant string      `json:"tenant"`
	User   string      `json:"user"`
	Label  string      `json:"label"`
	Scopes []app.Scope `json:"scopes,omitempty"` // none: all that the user's role may
	// ExpiresAt is when it ends; zero for the one that a server leaves for clients on its own host.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	UsedAt    time.Time `json:"used_at,omitzero"`    // to the minute; zero: never
	UsedFrom  string    `json:"used_from,omitempty"` // the address of that use
}

// Expired tells whether it has ended.
func (t Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// ActorOfToken gives the actor of an API token, or EUnauthorized; from is the address that it was sent from.
func (a *Service) ActorOfToken(ctx context.Context, token, from string) (app.Actor, error) {
	u, t, err := a.Store.UserOfToken(ctx, HashToken(token))
	if app.CodeOf(err) == app.ENotFound {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Message: "This token is not valid (any more).", Hint: "Sign in again or make a new token."}
	}
	if err != nil {
		return app.Actor{}, err
	}
	now := a.Now()
	switch {
	case u.Disabled():
		return app.Actor{}, ErrDisabled()
	case t.Expired(now):
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "expired", Message: "This token has expired.", Hint: "Make a new one."}
	}
	if now.Sub(t.UsedAt) >= SeenEvery {
		// That it cannot be noted keeps nobody from working, nor for long.
		note, cancel := context.WithTimeout(ctx, time.Second)
		_ = a.Store.UsedToken(note, t, now, from)
		cancel()
	}
	actor := u.Actor()
	actor.Scopes, actor.Token, actor.Via, actor.From = t.Scopes, t.Label, app.ViaAPI, from
	return actor, nil
}

// LocalToken makes the token that a server leaves for clients on its own host. It is that of a superadmin, has all rights, and
// holds until the next one of that label replaces it: whoever can read the server's files can do everything anyway.
func (a *Service) LocalToken(ctx context.Context, label string) (string, error) {
	u, err := a.Store.Superadmin(ctx)
	if err != nil {
		return "", err
	}
	return a.IssueToken(ctx, u.Tenant, u.Name, label)
}
