package app

import (
	"context"
	"time"
)

// Token is an API token as people see it. The token itself is told once, when it is made, and is kept nowhere.
type Token struct {
	ID     int64   `json:"id"`
	Tenant string  `json:"tenant"`
	User   string  `json:"user"`
	Label  string  `json:"label"`
	Scopes []Scope `json:"scopes,omitempty"` // none: all that the user's role may
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
func (a *App) ActorOfToken(ctx context.Context, token, from string) (Actor, error) {
	u, t, err := a.Store.UserOfToken(ctx, HashToken(token))
	if CodeOf(err) == ENotFound {
		return Actor{}, &Error{Code: EUnauthorized, Message: "This token is not valid (any more).", Hint: "Sign in again or make a new token."}
	}
	if err != nil {
		return Actor{}, err
	}
	now := a.Now()
	switch {
	case u.Disabled():
		return Actor{}, errDisabled()
	case t.Expired(now):
		return Actor{}, &Error{Code: EUnauthorized, Reason: "expired", Message: "This token has expired.", Hint: "Make a new one."}
	}
	if now.Sub(t.UsedAt) >= seenEvery {
		// That it cannot be noted keeps nobody from working, nor for long.
		note, cancel := context.WithTimeout(ctx, time.Second)
		_ = a.Store.UsedToken(note, t, now, from)
		cancel()
	}
	actor := u.Actor()
	actor.Scopes, actor.Token, actor.Via, actor.From = t.Scopes, t.Label, ViaAPI, from
	return actor, nil
}

// LocalToken makes the token that a server leaves for clients on its own host. It is that of a superadmin, has all rights, and
// holds until the next one of that label replaces it: whoever can read the server's files can do everything anyway.
func (a *App) LocalToken(ctx context.Context, label string) (string, error) {
	u, err := a.Store.Superadmin(ctx)
	if err != nil {
		return "", err
	}
	return a.IssueToken(ctx, u.Tenant, u.Name, label)
}
