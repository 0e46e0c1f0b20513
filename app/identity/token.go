package identity

import (
	"context"
	"slices"
	"time"

	"muster/app"
)

// TokenStore keeps tokens.
type TokenStore interface {
	// AddToken keeps a token's hash and returns the token with its number. EConflict where the user has one of that label, or too
	// many; EForbidden where the user is not there any more, disabled, or, with robots, no robot.
	AddToken(ctx context.Context, who app.Actor, t Token, hash []byte, robots bool, most int) (Token, error)
	// ReplaceToken keeps a token's hash. The newest token of the same user and label replaces the older.
	ReplaceToken(ctx context.Context, who app.Actor, t Token, hash []byte) error
	// RevokeToken drops one; ENotFound where the tenant has none of that number.
	RevokeToken(ctx context.Context, who app.Actor, tenant string, id int64, at time.Time) error
	// Superadmin returns an enabled superadmin, the one called admin before others, or ENotFound.
	Superadmin(ctx context.Context) (User, error)
	Token(ctx context.Context, tenant string, id int64) (Token, error)
	// Tokens returns those of a tenant's user, or of all where that is "", newest first.
	Tokens(ctx context.Context, tenant, user string) ([]Token, error)
	// UsedToken notes when, and from which address, a token was last used, and that its user was there.
	UsedToken(ctx context.Context, t Token, at time.Time, from string) error
	// UserOfToken returns the token of a hash, with its account as it is now, or ENotFound.
	UserOfToken(ctx context.Context, hash []byte) (User, Token, error)
}

// TokensConfig is what Tokens is created from. Only what says so may be nil.
type TokensConfig struct {
	Store TokenStore
	Now   func() time.Time
}

// Tokens are the API tokens of accounts.
type Tokens struct {
	TokensConfig
}

// NewTokens returns them on top of what c holds.
func NewTokens(c TokensConfig) *Tokens { return &Tokens{TokensConfig: c} }

// Token is an API token as people see it. The token itself is reported once, when it is made, and is kept nowhere.
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

// Expired reports whether it has ended.
func (t Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// ActorOfToken returns the actor of an API token, or EUnauthorized; from is the address that it was sent from.
func (a *Tokens) ActorOfToken(ctx context.Context, token, from string) (app.Actor, error) {
	u, t, err := a.Store.UserOfToken(ctx, HashToken(token))
	if app.CodeOf(err) == app.ENotFound {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Message: "This token is invalid or was revoked.", Hint: "Sign in again, or create a new token."}
	}
	if err != nil {
		return app.Actor{}, err
	}
	now := a.Now()
	switch {
	case u.Disabled():
		return app.Actor{}, errDisabled()
	case t.Expired(now):
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "expired", Message: "This token has expired.", Hint: "Create a new token."}
	}
	if now.Sub(t.UsedAt) >= seenEvery {
		// That it cannot be noted keeps no one from working, nor for long.
		note, cancel := context.WithTimeout(ctx, time.Second)
		_ = a.Store.UsedToken(note, t, now, from)
		cancel()
	}
	actor := u.Actor()
	actor.Scopes, actor.Token, actor.Via, actor.From = t.Scopes, t.Label, app.ViaAPI, from
	return actor, nil
}

// LocalToken makes the token that a server leaves for clients on its own host. It is that of a superadmin, has all rights, and
// holds until the next one of that label replaces it: anyone who can read the server's files can do everything anyway.
func (a *Tokens) LocalToken(ctx context.Context, label string) (string, error) {
	u, err := a.Store.Superadmin(ctx)
	if err != nil {
		return "", err
	}
	return a.IssueToken(ctx, u.Tenant, u.Name, label)
}

// EndToken ends the token by which the actor asks. ENotFound where it did not come by one.
func (a *Tokens) EndToken(ctx context.Context, actor app.Actor) (Token, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("EndToken"); err != nil {
		return Token{}, err
	}
	own, err := a.Store.Tokens(ctx, actor.Tenant, actor.User)
	if err != nil {
		return Token{}, err
	}
	i := slices.IndexFunc(own, func(t Token) bool { return actor.Token != "" && t.Label == actor.Token })
	if i < 0 {
		return Token{}, &app.Error{Code: app.ENotFound, Message: "This request didn't use one of your own tokens."}
	}
	return own[i], a.Store.RevokeToken(ctx, actor, actor.Tenant, own[i].ID, a.Now())
}

// IssueToken makes an API token for a user. The newest token of a label replaces the older one.
func (a *Tokens) IssueToken(ctx context.Context, tenant, user, label string) (string, error) {
	token := NewToken()
	who := app.Actor{Tenant: tenant, User: user, Role: app.RoleSuperadmin, Via: app.ViaServer}
	return token, a.Store.ReplaceToken(ctx, who, Token{Tenant: tenant, User: user, Label: label, CreatedAt: a.Now(), CreatedBy: who.Name()}, HashToken(token))
}
