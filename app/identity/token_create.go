package identity

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/humanize"
)

// How long API tokens hold.
const (
	TokenDays    = 90  // where nothing is said
	MostDays     = 365 // at most
	mostTokens   = 50  // of a user
	longestLabel = 63
)

// NewAPIToken is a token about to be made.
type NewAPIToken struct {
	Label  string      `json:"label"`
	Scopes []app.Scope `json:"scopes,omitempty"` // read is implied
	Days   int         `json:"days,omitempty"`   // 0: TokenDays
	User   string      `json:"user,omitempty"`   // whose; a robot's, where it is not the actor's own
}

// Tokens lists the actor's tokens; admins get all of the tenant. User narrows it to those of one.
func (a *Tokens) Tokens(ctx context.Context, actor app.Actor, user string) ([]Token, error) {
	r, err := actor.Reach("Tokens")
	if err != nil {
		return nil, err
	}
	if r != app.All {
		if user != "" && user != actor.User {
			return nil, actor.MayTouch("Tokens", user, fmt.Sprintf("account %q", user))
		}
		user = actor.User
	}
	return a.Store.Tokens(ctx, actor.Tenant, user)
}

// CreateToken makes a token of the actor's own, and returns it; it cannot be read again.
func (a *Tokens) CreateToken(ctx context.Context, actor app.Actor, n NewAPIToken) (Token, string, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("CreateToken"); err != nil {
		return Token{}, "", err
	}
	if n.User != "" && n.User != actor.User {
		return Token{}, "", &app.Error{Code: app.EForbidden, Field: "user", Message: "You can't create tokens for other people.", Hint: "Admins can create tokens for robot accounts."}
	}
	n.User = actor.User
	scopes, err := scopesFor(actor.Role, n.Scopes)
	if err != nil {
		return Token{}, "", err
	}
	for _, s := range scopes {
		if actor.Session == "" && (s == app.ScopeApprove || s == app.ScopeAdmin) {
			return Token{}, "", &app.Error{Code: app.EForbidden, Reason: "sign_in", Field: "scopes", Message: fmt.Sprintf("A token with scope %q can't be created with another token.", s),
				Hint: "Sign in at the portal and create the token there."}
		}
	}
	return a.addToken(ctx, actor, n, scopes, false)
}

// CreateRobotToken makes a token of a robot of the tenant, and returns it; it cannot be read again.
func (a *Tokens) CreateRobotToken(ctx context.Context, actor app.Actor, n NewAPIToken) (Token, string, error) {
	if err := actor.Authorize("CreateRobotToken"); err != nil {
		return Token{}, "", err
	}
	scopes, err := scopesFor(app.RoleRobot, n.Scopes)
	if err != nil {
		return Token{}, "", err
	}
	return a.addToken(ctx, actor, n, scopes, true)
}

func (a *Tokens) addToken(ctx context.Context, actor app.Actor, n NewAPIToken, scopes []app.Scope, robots bool) (Token, string, error) {
	if n.Label == "" {
		return Token{}, "", &app.Error{Code: app.EInvalid, Field: "label", Message: "Label is required.", Hint: "Name what uses the token, such as laptop or nightly build."}
	}
	if err := CheckText("label", n.Label, longestLabel); err != nil {
		return Token{}, "", err
	}
	if n.Days == 0 {
		n.Days = TokenDays
	}
	if n.Days < 1 || n.Days > MostDays {
		return Token{}, "", &app.Error{Code: app.EInvalid, Field: "days", Message: fmt.Sprintf("Days must be from 1 to %d, not %d.", MostDays, n.Days)}
	}
	now := a.Now()
	secret := NewToken()
	t, err := a.Store.AddToken(ctx, actor, Token{Tenant: actor.Tenant, User: n.User, Label: n.Label, Scopes: scopes, CreatedAt: now, CreatedBy: actor.Name(),
		ExpiresAt: now.AddDate(0, 0, n.Days)}, HashToken(secret), robots, mostTokens)
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

// scopesFor returns the scopes of a token in order, with read; none may be one that the role has no use for.
func scopesFor(r app.Role, wanted []app.Scope) ([]app.Scope, error) {
	for _, s := range wanted {
		var known, useful []string
		for _, k := range app.TokenScopes {
			known = append(known, string(k))
			if r.Uses(k) {
				useful = append(useful, string(k))
			}
		}
		switch {
		case !slices.Contains(known, string(s)):
			return nil, &app.Error{Code: app.EInvalid, Field: "scopes", Message: fmt.Sprintf("Unknown scope %q.", s), Hint: "Use " + humanize.Or(known) + "."}
		case !slices.Contains(useful, string(s)):
			return nil, &app.Error{Code: app.EForbidden, Reason: "scope", Field: "scopes", Message: fmt.Sprintf("Role %s can't use scope %q.", r, s),
				Hint: "Use " + humanize.Or(useful) + "."}
		}
	}
	scopes := []app.Scope{}
	for _, s := range app.TokenScopes {
		if s == app.ScopeRead || slices.Contains(wanted, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// ScopesOf are those that a token of a role can have.
func ScopesOf(r app.Role) []app.Scope {
	return slices.DeleteFunc(slices.Clone(app.TokenScopes), func(s app.Scope) bool { return !r.Uses(s) })
}

// RevokeToken ends a token at once: one of the actor's own, or for admins any of the tenant.
func (a *Tokens) RevokeToken(ctx context.Context, actor app.Actor, id int64) error {
	if err := actor.Authorize("RevokeToken"); err != nil {
		return err
	}
	t, err := a.Store.Token(ctx, actor.Tenant, id)
	if err != nil {
		return err
	}
	if err := actor.MayTouch("RevokeToken", t.User, fmt.Sprintf("token %d", id)); err != nil {
		return err
	}
	return a.Store.RevokeToken(ctx, actor, actor.Tenant, id, a.Now())
}
