package app

import (
	"context"
	"strings"
)

// SignIn checks a name and password and begins a sign-in. EUnauthorized does not tell which of the two was wrong, and takes as
// long either way. The faces limit how often it is asked. Where the account has a second factor, it begins nothing: the error is EForbidden with
// SecondFactorReason, and the session, which has no ID, is what FinishSignIn takes.
func (a *App) SignIn(ctx context.Context, tenant, user, password string, v Visit) (Session, error) {
	if tenant == "" {
		tenant = DefaultTenant
	}
	u, err := a.Store.User(ctx, tenant, strings.TrimSpace(user))
	if err != nil && CodeOf(err) != ENotFound {
		return Session{}, err
	}
	if !passwordFits(u.PasswordHash, password) {
		err := &Error{Code: EUnauthorized, Reason: "wrong_password", Field: "password", Message: "That name and password do not fit together."}
		// Whether there is such an account or not, the same is done, so that the time taken does not tell. Of tenants that are
		// not there nothing is written: of their names there is no end.
		if _, e := a.Store.Tenant(ctx, tenant); e == nil {
			who := strings.ToValidUTF8(user[:min(len(user), 64)], "")
			a.NoteRefusal(ctx, Refusal{Actor: Actor{Tenant: tenant, User: strings.TrimSpace(who), Via: ViaPortal, From: v.From}, What: "sign-in", Why: err})
		}
		return Session{}, err
	}
	if u.SecondFactor {
		if _, err := u.atPortal(); err != nil {
			return Session{}, err
		}
		return u.session(a.Now(), ByPassword, v), &Error{Code: EForbidden, Reason: SecondFactorReason, Message: "This account needs a second factor beside the password.",
			Hint: "Sign in at the portal, which asks for it; programs use an API token."}
	}
	return a.beginSession(ctx, u, ByPassword, "", "", v)
}

// EnsureAdmin makes the first account of a fresh installation and gives its one-time password; "" where there are
// accounts already. A wanted password, when given, is used instead of a random one, which must be changed at the first sign-in.
func (a *App) EnsureAdmin(ctx context.Context, wanted string) (password string, err error) {
	n, err := a.Store.CountUsers(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	if password = wanted; password == "" {
		password = NewPassword()
	}
	err = a.Store.CreateUser(ctx, User{Tenant: DefaultTenant, Name: "admin", Role: RoleSuperadmin,
		PasswordHash: HashPassword(password), MustChange: wanted == "", CreatedAt: a.Now()})
	if CodeOf(err) == EConflict { // another server has just made it, and tells its password
		return "", nil
	}
	return password, err
}

// IssueToken makes an API token for a user. The newest token of a label replaces the older one.
func (a *App) IssueToken(ctx context.Context, tenant, user, label string) (string, error) {
	token := NewToken()
	who := Actor{Tenant: tenant, User: user, Role: RoleSuperadmin, Via: ViaServer}
	return token, a.Store.ReplaceToken(ctx, who, Token{Tenant: tenant, User: user, Label: label, CreatedAt: a.Now(), CreatedBy: who.Name()}, HashToken(token))
}

// ResetPassword gives a user a new random password, for whoever runs the server. It ends sign-ins and tokens.
func (a *App) ResetPassword(ctx context.Context, tenant, user string) (string, error) {
	password := NewPassword()
	return password, a.Store.SetPassword(ctx, system(tenant, user), user, HashPassword(password), a.Now())
}
