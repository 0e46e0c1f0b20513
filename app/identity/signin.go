package identity

import (
	"context"
	"strings"

	"muster/app"
)

// SignIn checks a name and password and begins a sign-in. EUnauthorized does not tell which of the two was wrong, and takes as
// long either way. The faces limit how often it is asked. Where the account has a second factor, it begins nothing: the error is EForbidden with
// SecondFactorReason, and the session, which has no ID, is what FinishSignIn takes.
func (a *Service) SignIn(ctx context.Context, tenant, user, password string, v Visit) (Session, error) {
	if tenant == "" {
		tenant = app.DefaultTenant
	}
	u, err := a.Store.User(ctx, tenant, strings.TrimSpace(user))
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return Session{}, err
	}
	if !passwordFits(u.PasswordHash, password) {
		err := &app.Error{Code: app.EUnauthorized, Reason: "wrong_password", Field: "password", Message: "That name and password do not fit together."}
		// Whether there is such an account or not, the same is done, so that the time taken does not tell. Of tenants that are
		// not there nothing is written: of their names there is no end.
		if _, e := a.Store.Tenant(ctx, tenant); e == nil {
			who := strings.ToValidUTF8(user[:min(len(user), 64)], "")
			a.NoteRefusal(ctx, Refusal{Actor: app.Actor{Tenant: tenant, User: strings.TrimSpace(who), Via: app.ViaPortal, From: v.From}, What: "sign-in", Why: err})
		}
		return Session{}, err
	}
	if u.SecondFactor {
		if _, err := u.AtPortal(); err != nil {
			return Session{}, err
		}
		return u.Session(a.Now(), ByPassword, v), &app.Error{Code: app.EForbidden, Reason: app.SecondFactorReason, Message: "This account needs a second factor beside the password.",
			Hint: "Sign in at the portal, which asks for it; programs use an API token."}
	}
	return a.beginSession(ctx, u, ByPassword, "", "", v)
}

// EnsureAdmin makes the first account of a fresh installation and gives its one-time password; "" where there are
// accounts already. A wanted password, when given, is used instead of a random one, which must be changed at the first sign-in.
func (a *Service) EnsureAdmin(ctx context.Context, wanted string) (password string, err error) {
	n, err := a.Store.CountUsers(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	if password = wanted; password == "" {
		password = NewPassword()
	}
	err = a.Store.CreateUser(ctx, User{Tenant: app.DefaultTenant, Name: "admin", Role: app.RoleSuperadmin,
		PasswordHash: HashPassword(password), MustChange: wanted == "", CreatedAt: a.Now()})
	if app.CodeOf(err) == app.EConflict { // another server has just made it, and tells its password
		return "", nil
	}
	return password, err
}

// IssueToken makes an API token for a user. The newest token of a label replaces the older one.
func (a *Service) IssueToken(ctx context.Context, tenant, user, label string) (string, error) {
	token := NewToken()
	who := app.Actor{Tenant: tenant, User: user, Role: app.RoleSuperadmin, Via: app.ViaServer}
	return token, a.Store.ReplaceToken(ctx, who, Token{Tenant: tenant, User: user, Label: label, CreatedAt: a.Now(), CreatedBy: who.Name()}, HashToken(token))
}

// ResetPassword gives a user a new random password, for whoever runs the server. It ends sign-ins and tokens.
func (a *Service) ResetPassword(ctx context.Context, tenant, user string) (string, error) {
	password := NewPassword()
	return password, a.Store.SetPassword(ctx, app.System(tenant, user), user, HashPassword(password), a.Now())
}
