package identity

import (
	"context"
	"strings"

	"muster/app"
)

// Directory checks names and passwords elsewhere, as an LDAP server does. Errors are *app.Error, for people.
type Directory interface {
	// Name is the name in the settings, Label that for people.
	Name() string
	Label() string
	// Tenants are those that its rules name.
	Tenants() []string
	// Prove returns whose name and password these are. EUnauthorized where they are wrong, with reason no_entry where there is no such person.
	Prove(ctx context.Context, user, password string) (Subject, error)
}

// ReasonNoEntry is that of a directory that doesn't know a person.
const ReasonNoEntry = "no_entry"

// errWrongPassword is all that strangers learn, whether there is such an account or not.
func errWrongPassword() error {
	return &app.Error{Code: app.EUnauthorized, Reason: "wrong_password", Field: "password", Message: "Wrong username or password."}
}

// HasPassword reports whether an account has a password in Muster. Passwords of these are never sent to a directory.
func (a *SignIns) HasPassword(ctx context.Context, tenant, user string) (bool, error) {
	u, err := a.Store.User(ctx, tenant, user)
	if app.CodeOf(err) == app.ENotFound {
		return false, nil
	}
	return err == nil && u.PasswordHash != "", err
}

// ProveBy asks directories, one after the other, whose name and password these are, for SignInBy. The first one that knows the person decides. EUnauthorized
// doesn't tell what was wrong, and is in the audit. The faces limit how often it is asked.
func (a *SignIns) ProveBy(ctx context.Context, directories []Directory, tenant, user, password string, v Visit) (Subject, error) {
	var down error
	user = strings.TrimSpace(user)
	for _, d := range directories {
		s, err := d.Prove(ctx, user, password)
		if err == nil {
			s.Login = user
			return s, nil
		}
		e := app.AsError(err)
		if e.Code != app.EUnauthorized {
			if down == nil {
				down = err
			}
			continue
		}
		if e.Reason != ReasonNoEntry {
			down = nil
			break
		}
	}
	if down != nil {
		return Subject{}, down
	}
	err := errWrongPassword()
	if tenant == "" {
		tenant = app.DefaultTenant
	}
	if _, e := a.Store.Tenant(ctx, tenant); e == nil {
		who := strings.ToValidUTF8(user[:min(len(user), 64)], "")
		a.AuditLog.NoteRefusal(ctx, Refusal{Actor: app.Actor{Tenant: tenant, User: who, Via: app.ViaPortal, From: v.From}, What: "sign-in", Why: err})
	}
	return Subject{}, err
}
