package identity

import (
	"context"
	"strings"
	"time"

	"muster/app"
)

// SignInStore finds accounts by what was proved.
type SignInStore interface {
	// AdmitSubject makes the account of a person in the grant's tenant, or brings role, groups and address up to date. EConflict
	// where the name belongs to another account, ENotFound where there is no such tenant.
	AdmitSubject(ctx context.Context, s Subject, g Grant, at time.Time) (User, error)
	// DismissSubject ends the sign-ins of a person's accounts outside of the tenants named, and takes the groups that their
	// identity provider gave them.
	DismissSubject(ctx context.Context, s Subject, except []string, at time.Time) error
	// SecondFactors returns the confirmed ones of an account, oldest first: keys with what is known of them, apps without their secret.
	SecondFactors(ctx context.Context, tenant, user string) (SecondFactors, error)
	Tenant(ctx context.Context, name string) (Tenant, error)
	// User returns an account with its groups, or ENotFound.
	User(ctx context.Context, tenant, name string) (User, error)
}

// SignInsConfig is what SignIns is created from. Only what says so may be nil.
type SignInsConfig struct {
	Store SignInStore
	Now   func() time.Time

	AuditLog *AuditLog
	Factors  *Factors
	Sessions *Sessions
}

// SignIns begin sessions, for who proves who they are.
type SignIns struct {
	SignInsConfig
}

// NewSignIns returns them on top of what c holds.
func NewSignIns(c SignInsConfig) *SignIns { return &SignIns{SignInsConfig: c} }

// SignIn checks a name and password and begins a sign-in. EUnauthorized does not tell which of the two was wrong, and takes as
// long either way. The faces limit how often it is asked. Where the account has a second factor, it begins nothing: the error is EForbidden with
// SecondFactorReason, and the session, which has no ID, is what FinishSignIn takes.
func (a *SignIns) SignIn(ctx context.Context, tenant, user, password string, v Visit) (Session, error) {
	if tenant == "" {
		tenant = app.DefaultTenant
	}
	u, err := a.Store.User(ctx, tenant, strings.TrimSpace(user))
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return Session{}, err
	}
	if !passwordFits(u.PasswordHash, password) {
		err := errWrongPassword()
		// Whether there is such an account or not, the same is done, so that the time taken does not tell. Of tenants that are
		// not there nothing is written: of their names there is no end.
		if _, e := a.Store.Tenant(ctx, tenant); e == nil {
			who := strings.ToValidUTF8(user[:min(len(user), 64)], "")
			a.AuditLog.NoteRefusal(ctx, Refusal{Actor: app.Actor{Tenant: tenant, User: strings.TrimSpace(who), Via: app.ViaPortal, From: v.From}, What: "sign-in", Why: err})
		}
		return Session{}, err
	}
	if u.SecondFactor {
		if _, err := u.atPortal(); err != nil {
			return Session{}, err
		}
		return u.session(a.Now(), ByPassword, v), &app.Error{Code: app.EForbidden, Reason: app.SecondFactorReason, Message: "This account requires a second factor in addition to the password.",
			Hint: "Sign in at the portal, or use an API token in programs."}
	}
	return a.Sessions.beginSession(ctx, u, ByPassword, "", "", v)
}
