package identity

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
)

// PasswordStore sets passwords.
type PasswordStore interface {
	// ChangePassword sets the actor's own password, ends its tokens and all its other sign-ins, and lets the one that asks continue with that mark.
	ChangePassword(ctx context.Context, who app.Actor, session int64, hash, mark string, at time.Time) error
	// SetPassword sets that of an account of the actor's tenant, and ends its tokens and sign-ins.
	SetPassword(ctx context.Context, who app.Actor, name, hash string, at time.Time) error
	// User returns an account with its groups, or ENotFound.
	User(ctx context.Context, tenant, name string) (User, error)
}

// PasswordsConfig is what Passwords is created from. Only what says so may be nil.
type PasswordsConfig struct {
	Store PasswordStore
	Now   func() time.Time
}

// Passwords are those of accounts.
type Passwords struct {
	PasswordsConfig
}

// NewPasswords returns them on top of what c holds.
func NewPasswords(c PasswordsConfig) *Passwords { return &Passwords{PasswordsConfig: c} }

// MinPassword is how many characters a password has at least.
const MinPassword = 12

// ChangePassword sets the actor another password of its own choice, and ends its tokens and all its other sign-ins at once. EUnauthorized
// where the old one does not fit; the faces limit how often it is asked.
func (a *Passwords) ChangePassword(ctx context.Context, actor app.Actor, old, wanted string) error {
	u, actor, id, err := a.withPassword(ctx, actor, "ChangePassword", "Change the password at your identity provider.")
	if err != nil {
		return err
	}
	if u.SecondFactor && !u.MustChange { // who must change it can do nothing else before, so not prove anything either
		if err := actor.MustStepUp(); err != nil { // which takes the second factor
			return err
		}
	}
	if err := passwordGood(u.Name, wanted); err != nil {
		return err
	}
	if !passwordFits(u.PasswordHash, old) {
		return &app.Error{Code: app.EUnauthorized, Field: "old", Message: "Wrong password."}
	}
	if old == wanted {
		return &app.Error{Code: app.EInvalid, Field: "new", Message: "The new password must differ from the current one."}
	}
	u.PasswordHash = HashPassword(wanted)
	return a.Store.ChangePassword(ctx, actor, id, u.PasswordHash, u.passwordMark(), a.Now())
}

// withPassword returns the account and the sign-in of someone who has a password here; EConflict where there is none, with what
// to do instead.
func (a *Passwords) withPassword(ctx context.Context, actor app.Actor, useCase, instead string) (u User, home app.Actor, session int64, err error) {
	home = actor.AtHome()
	if err := home.Authorize(useCase); err != nil {
		return u, home, 0, err
	}
	if session, err = home.SessionID(); err != nil {
		return u, home, 0, err
	}
	if u, err = a.Store.User(ctx, home.Tenant, home.User); err != nil {
		return u, home, 0, err
	}
	if u.PasswordHash == "" {
		err = &app.Error{Code: app.EConflict, Reason: "no_password", Message: "This account has no password in Muster.", Hint: instead}
	}
	return u, home, session, err
}

// passwordGood says what is wrong with a password that someone chose. Length is what counts; the rest keeps out what is
// tried first.
func passwordGood(user, wanted string) error {
	bad := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "new", Message: message, Hint: hint}
	}
	n := utf8.RuneCountInString(wanted)
	different := map[rune]bool{}
	for _, r := range wanted {
		different[r] = true
	}
	low := strings.ToLower(wanted)
	switch {
	case !utf8.ValidString(wanted):
		return bad("Password must be valid text.", "")
	case n < MinPassword:
		return bad(fmt.Sprintf("Password is too short: %d characters.", n), fmt.Sprintf("Use at least %d; a phrase of several words works well.", MinPassword))
	case len(wanted) > maxPassword:
		return bad("Password is too long.", fmt.Sprintf("Use at most %d bytes.", maxPassword))
	case len(different) < 5:
		return bad("Password has too few different characters.", "A phrase of several words works well.")
	case user != "" && strings.Trim(strings.ReplaceAll(low, strings.ToLower(user), ""), "0123456789 -_.!") == "":
		return bad("Password must differ from your user name.", "A phrase of several words works well.")
	case strings.Contains("0123456789012345678901234567890 abcdefghijklmnopqrstuvwxyz qwertyuiopasdfghjklzxcvbnm", low):
		return bad("Password is a keyboard pattern.", "A phrase of several words works well.")
	}
	for _, word := range []string{"password", "passwort", "letmein", "welcome", "changeme", "muster"} {
		if strings.Trim(strings.ReplaceAll(low, word, ""), "0123456789 -_.!@") == "" {
			return bad("Password is too common.", "A phrase of several words works well.")
		}
	}
	return nil
}

// ResetPassword sets a new random password of a user, for anyone who runs the server. It ends sign-ins and tokens.
func (a *Passwords) ResetPassword(ctx context.Context, tenant, user string) (string, error) {
	password := NewPassword()
	return password, a.Store.SetPassword(ctx, app.System(tenant, user), user, HashPassword(password), a.Now())
}
