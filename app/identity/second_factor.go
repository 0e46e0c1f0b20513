package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// SecondFactorStore keeps second factors. Those of an account that was deleted do not count for a new one of its name.
type SecondFactorStore interface {
	// AddFactor adds a key, or confirms the app with that ID, which check must accept. With the first one, recovery codes are kept and the actor's other
	// sign-ins end.
	AddFactor(ctx context.Context, who app.Actor, session int64, f SecondFactor, check func(started SecondFactor) (step int64, err error), codes [][]byte) (first bool, err error)
	RemoveFactor(ctx context.Context, who app.Actor, id string, at time.Time) error
	ReplaceRecoveryCodes(ctx context.Context, who app.Actor, codes [][]byte, at time.Time) error
	// RequireSecondFactor sets whether the actor's tenant requires one of accounts with a password.
	RequireSecondFactor(ctx context.Context, who app.Actor, required bool, at time.Time) error
	// ResetFactors removes all of a user of the actor's tenant, with the recovery codes, and notifies the user.
	ResetFactors(ctx context.Context, who app.Actor, user string, at time.Time) error
	// SecondFactors returns the confirmed ones of an account, oldest first: keys with what is known of them, apps without their secret.
	SecondFactors(ctx context.Context, tenant, user string) (SecondFactors, error)
	// StartFactor keeps an app that is not confirmed yet, unless the actor has one that was started after that time: then it returns that one.
	StartFactor(ctx context.Context, who app.Actor, f SecondFactor, after time.Time) (SecondFactor, error)
	// UseFactor counts an attempt and lets try decide, with all factors of the actor and the hashes of its unused recovery codes. What was used is noted in the
	// same transaction, so that it is used once. ERateLimit after too many wrong codes.
	UseFactor(ctx context.Context, who app.Actor, at time.Time, try func(factors []SecondFactor, codes [][]byte) (FactorUse, error)) (FactorUse, error)
}

// FactorsConfig is what Factors is created from. Only what says so may be nil.
type FactorsConfig struct {
	Store SecondFactorStore
	Now   func() time.Time

	AuditLog  *AuditLog
	Passwords *Passwords
}

// Factors are the second factors of accounts.
type Factors struct {
	FactorsConfig
}

// NewFactors returns them on top of what c holds.
func NewFactors(c FactorsConfig) *Factors { return &Factors{FactorsConfig: c} }

// The kinds. A recovery code is for those who lost the others.
const (
	FactorApp      app.FactorKind = "app"      // an authenticator app, which shows codes
	FactorKey      app.FactorKind = "key"      // a security key or passkey
	FactorRecovery app.FactorKind = "recovery" // a recovery code
)

// Limits of second factors.
const (
	PendingSignIn    = 5 * time.Minute  // between the password and the second factor
	appSetup         = 15 * time.Minute // between an app's secret and its first code
	mostFactors      = 10               // of one account
	recoveryCodes    = 10
	FewRecoveryCodes = 2 // from here on, people are asked to replace them
	// Six digits can be guessed by someone who knows the password and has many addresses, so wrong codes are limited for an account as a whole. Only
	// those who know
	// its password can make use of that to keep its owner out, and not with a security key.
	MostWrongCodes   = 10
	WrongCodesWithin = 15 * time.Minute
)

// SecondFactor is an authenticator app or a security key of an account.
type SecondFactor struct {
	ID      string         `json:"id"`
	Kind    app.FactorKind `json:"kind"`
	Name    string         `json:"name"`
	AddedAt time.Time      `json:"added_at,omitzero"` // zero: not confirmed yet
	UsedAt  time.Time      `json:"used_at,omitzero"`
	// Secret is what an app shares with us, or what is known of a security key.
	Secret    []byte    `json:"-"`
	UsedStep  int64     `json:"-"` // of an app
	StartedAt time.Time `json:"-"`
}

// SecondFactors are those of an account.
type SecondFactors struct {
	Factors  []SecondFactor `json:"factors"`
	Codes    int            `json:"recovery_codes"` // that are left
	Required bool           `json:"required"`       // by the tenant
}

// Has reports whether there is one of a kind.
func (s SecondFactors) Has(kind app.FactorKind) bool {
	for _, f := range s.Factors {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// FactorProof is what a person shows as a second factor: a code, or the answer of a security key.
type FactorProof struct {
	Code string // of an app, or a recovery code
	// Key checks the answer of a security key and returns the key, as it is to be kept from now on. Nil where a code is shown. The face that asked for the answer
	// knows what it asked, so it brings the check along.
	Key func(keys []SecondFactor) (SecondFactor, error)
}

func (p FactorProof) empty() bool { return p.Code == "" && p.Key == nil }

// FactorUse says which factor proved who someone is.
type FactorUse struct {
	Kind   app.FactorKind
	ID     string // of an app or key
	Step   int64  // of an app
	Secret []byte // of a key
	Code   []byte // hash of a recovery code
}

func wrongCode(message, hint string) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "wrong_code", Field: "code", Message: message, Hint: hint}
}

// judge decides whether a proof is right.
func (p FactorProof) judge(factors []SecondFactor, codes [][]byte, now time.Time) (FactorUse, error) {
	if p.Key != nil {
		var keys []SecondFactor
		for _, f := range factors {
			if f.Kind == FactorKey {
				keys = append(keys, f)
			}
		}
		k, err := p.Key(keys)
		return FactorUse{Kind: FactorKey, ID: k.ID, Secret: k.Secret}, err
	}
	code := plainCode(p.Code)
	if len(code) != totpDigits {
		hash := HashToken(code)
		for _, c := range codes {
			if subtle.ConstantTimeCompare(c, hash) == 1 {
				return FactorUse{Kind: FactorRecovery, Code: c}, nil
			}
		}
		return FactorUse{}, wrongCode("Invalid code.", "Enter the six digits that your app shows now, or a recovery code that you haven't used yet.")
	}
	hint := "Enter the six digits that your app shows now. If they don't work, check the clock of your phone."
	for _, f := range factors {
		if f.Kind != FactorApp {
			continue
		}
		if len(f.Secret) == 0 {
			hint = "The server has lost the key that your app's secret was encrypted with. Use a recovery code, or ask an admin to remove your second factors."
			continue
		}
		switch step, ok := totpMatch(f.Secret, code, now); {
		case ok && step > f.UsedStep:
			return FactorUse{Kind: FactorApp, ID: f.ID, Step: step}, nil
		case ok:
			return FactorUse{}, wrongCode("This code has already been used.", "Wait for the next one.")
		}
	}
	return FactorUse{}, wrongCode("Invalid code.", hint)
}

// plainCode is a code without what people put in to read it better.
func plainCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(code))
}

// newRecoveryCodes returns codes to show once and hashes to keep. A code has 80 random bits, so a plain hash is enough, as for tokens.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		c := strings.ToLower(rand.Text()[:16])
		codes = append(codes, c[:4]+"-"+c[4:8]+"-"+c[8:12]+"-"+c[12:])
		hashes = append(hashes, HashToken(c))
	}
	return codes, hashes
}

// useFactor checks a proof of an account's second factor. Wrong ones are in the audit.
func (a *Factors) useFactor(ctx context.Context, who app.Actor, p FactorProof) (FactorUse, error) {
	if p.empty() {
		return FactorUse{}, &app.Error{Code: app.EUnauthorized, Reason: app.SecondFactorReason, Field: "code", Message: "A second factor is required.",
			Hint: "Use your security key, or enter a code from your authenticator app or a recovery code."}
	}
	if len(p.Code) > 64 {
		return FactorUse{}, wrongCode("The code is too long.", "")
	}
	now := a.Now()
	used, err := a.Store.UseFactor(ctx, who, now, func(factors []SecondFactor, codes [][]byte) (FactorUse, error) { return p.judge(factors, codes, now) })
	if app.CodeOf(err) == app.EUnauthorized {
		a.AuditLog.NoteRefusal(ctx, Refusal{Actor: who, What: "second factor", Why: err})
	}
	return used, err
}

// stillPending returns the account of a sign-in that SignIn left pending, or EUnauthorized with reason expired where the password must be entered again.
func (a *SignIns) stillPending(ctx context.Context, pending Session) (User, error) {
	again := &app.Error{Code: app.EUnauthorized, Reason: "expired", Message: "Enter your password again.", Hint: "Enter your second factor within " + humanize.Duration(PendingSignIn) + " of your password."}
	u, err := a.Store.User(ctx, pending.Tenant, pending.User)
	if app.CodeOf(err) == app.ENotFound {
		return u, again
	}
	now := a.Now()
	if err == nil && (now.Sub(pending.At) >= PendingSignIn || pending.At.Sub(now) > app.ClockSlack || u.CreatedAt.After(pending.At) || pending.Mark != u.passwordMark() || !u.SecondFactor) {
		return u, again
	}
	return u, err
}

// PendingFactors returns the second factors that may finish a sign-in that SignIn left pending.
func (a *SignIns) PendingFactors(ctx context.Context, pending Session) (SecondFactors, error) {
	u, err := a.stillPending(ctx, pending)
	if err != nil {
		return SecondFactors{}, err
	}
	return a.Store.SecondFactors(ctx, u.Tenant, u.Name)
}

// FinishSignIn begins the sign-in that SignIn left pending, with a second factor. EUnauthorized where that is wrong, or where the password must be
// entered again
// (reason expired). The faces limit how often it is asked.
func (a *SignIns) FinishSignIn(ctx context.Context, pending Session, p FactorProof, v Visit) (Session, error) {
	u, err := a.stillPending(ctx, pending)
	if err != nil {
		return Session{}, err
	}
	who, err := u.atPortal()
	if err != nil {
		return Session{}, err
	}
	who.From = v.From
	used, err := a.Factors.useFactor(ctx, who, p)
	if err != nil {
		return Session{}, err
	}
	return a.Sessions.beginSession(ctx, u, ByPassword, "", used.Kind, v)
}

// SecondFactors returns those of the actor's own account.
func (a *Factors) SecondFactors(ctx context.Context, actor app.Actor) (SecondFactors, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("SecondFactors"); err != nil {
		return SecondFactors{}, err
	}
	return a.Store.SecondFactors(ctx, actor.Tenant, actor.User)
}

// ownFactors checks that the actor may change its own second factors.
func (a *Factors) ownFactors(ctx context.Context, actor app.Actor, useCase string) (home app.Actor, session int64, have SecondFactors, err error) {
	_, home, session, err = a.Passwords.withPassword(ctx, actor, useCase, "Your identity provider manages your second factor.")
	if err == nil {
		have, err = a.Store.SecondFactors(ctx, home.Tenant, home.User)
	}
	return home, session, have, err
}

// StartAuthenticator returns the secret that an authenticator app is to share with the actor's account. It counts once ConfirmAuthenticator was
// called with a code.
// Asked again soon after, it returns the same secret.
func (a *Factors) StartAuthenticator(ctx context.Context, actor app.Actor) (secret string, err error) {
	home, _, have, err := a.ownFactors(ctx, actor, "StartAuthenticator")
	if err != nil {
		return "", err
	}
	if have.Has(FactorApp) {
		return "", &app.Error{Code: app.EConflict, Reason: "has_app", Message: "You already have an authenticator app.", Hint: "Remove it first to set up another one."}
	}
	now := a.Now()
	f, err := a.Store.StartFactor(ctx, home, SecondFactor{ID: rand.Text(), Kind: FactorApp, Name: "Authenticator app", Secret: newTOTPSecret(), StartedAt: now}, now.Add(-appSetup))
	return totpText(f.Secret), err
}

// ConfirmAuthenticator adds the app whose secret StartAuthenticator returned, with a code that it shows. With the account's first factor it returns
// recovery codes,
// which can't be read again.
func (a *Factors) ConfirmAuthenticator(ctx context.Context, actor app.Actor, code string) ([]string, error) {
	home, session, have, err := a.ownFactors(ctx, actor, "ConfirmAuthenticator")
	if err != nil {
		return nil, err
	}
	if have.Has(FactorApp) {
		return nil, &app.Error{Code: app.EConflict, Reason: "has_app", Message: "You already have an authenticator app."}
	}
	now := a.Now()
	codes, hashes := newRecoveryCodes()
	first, err := a.Store.AddFactor(ctx, home, session, SecondFactor{Kind: FactorApp, AddedAt: now}, func(f SecondFactor) (int64, error) {
		if now.Sub(f.StartedAt) > appSetup {
			return 0, &app.Error{Code: app.EConflict, Reason: "expired", Message: "Setting up the app timed out.", Hint: "Start again."}
		}
		step, ok := totpMatch(f.Secret, plainCode(code), now)
		if !ok {
			return 0, &app.Error{Code: app.EInvalid, Reason: "wrong_code", Field: "code", Message: "Invalid code.",
				Hint: "Enter the six digits that the app shows now. If they don't work, check the clock of your phone."}
		}
		return step, nil
	}, hashes)
	if err != nil || !first {
		return nil, err
	}
	return codes, nil
}

// AddSecurityKey adds a security key that a face has checked; record is what checks its answers later. With the account's first factor it returns
// recovery codes.
func (a *Factors) AddSecurityKey(ctx context.Context, actor app.Actor, name string, record []byte) ([]string, error) {
	home, session, have, err := a.ownFactors(ctx, actor, "AddSecurityKey")
	if err != nil {
		return nil, err
	}
	if name = strings.TrimSpace(name); name == "" {
		return nil, &app.Error{Code: app.EInvalid, Field: "name", Message: "Name is required for the security key.", Hint: "For example, where you keep the key."}
	}
	if err := CheckText("name", name, 60); err != nil {
		return nil, err
	}
	if len(have.Factors) >= mostFactors {
		return nil, &app.Error{Code: app.EConflict, Reason: "too_many", Message: fmt.Sprintf("You already have %d second factors, the maximum.", mostFactors), Hint: "Remove one first."}
	}
	codes, hashes := newRecoveryCodes()
	now := a.Now()
	first, err := a.Store.AddFactor(ctx, home, session, SecondFactor{ID: rand.Text(), Kind: FactorKey, Name: name, Secret: record, StartedAt: now, AddedAt: now}, nil, hashes)
	if err != nil || !first {
		return nil, err
	}
	return codes, nil
}

// RemoveSecondFactor removes one of the actor's own second factors. With the last one, the recovery codes go too.
func (a *Factors) RemoveSecondFactor(ctx context.Context, actor app.Actor, id string) error {
	home, _, _, err := a.ownFactors(ctx, actor, "RemoveSecondFactor")
	if err != nil {
		return err
	}
	return a.Store.RemoveFactor(ctx, home, id, a.Now())
}

// ReplaceRecoveryCodes returns new recovery codes for the actor's account, which can't be read again. The old ones no longer work.
func (a *Factors) ReplaceRecoveryCodes(ctx context.Context, actor app.Actor) ([]string, error) {
	home, _, have, err := a.ownFactors(ctx, actor, "ReplaceRecoveryCodes")
	if err != nil {
		return nil, err
	}
	if len(have.Factors) == 0 {
		return nil, &app.Error{Code: app.EConflict, Reason: "no_second_factor", Message: "You have no second factor.", Hint: "Add one; recovery codes come with it."}
	}
	codes, hashes := newRecoveryCodes()
	return codes, a.Store.ReplaceRecoveryCodes(ctx, home, hashes, a.Now())
}

// ResetSecondFactor removes all second factors of a user who lost them, and ends the sign-ins. The password stays.
func (a *Factors) ResetSecondFactor(ctx context.Context, actor app.Actor, user string) error {
	if err := actor.Authorize("ResetSecondFactor"); err != nil {
		return err
	}
	// The token of the server's own host may: it is the way back in for the last superadmin.
	if user == actor.User && actor.Home == "" && actor.Session != "" {
		return &app.Error{Code: app.EConflict, Reason: "own", Message: "Remove your own second factors on your account page."}
	}
	return a.Store.ResetFactors(ctx, actor, user, a.Now())
}

// RequireSecondFactor sets whether people of the tenant who sign in with a password need a second factor. Those without one must add it before anything else.
func (a *Factors) RequireSecondFactor(ctx context.Context, actor app.Actor, required bool) error {
	if err := actor.Authorize("RequireSecondFactor"); err != nil {
		return err
	}
	return a.Store.RequireSecondFactor(ctx, actor, required, a.Now())
}
