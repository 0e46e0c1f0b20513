package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"muster/app"
)

// SessionStore keeps sign-ins.
type SessionStore interface {
	// BeginSession writes a sign-in and the audit of it, drops old records, and returns its id.
	BeginSession(ctx context.Context, s Session) (int64, error)
	// RevokeSessions ends those of a user: the one with the id, or, where that is 0, all but one (0: all). It returns how many were
	// not ended already.
	RevokeSessions(ctx context.Context, who app.Actor, user string, id, except int64, at time.Time) (int, error)
	// TouchSession notes that a sign-in, and so its user, was there.
	TouchSession(ctx context.Context, s Session, at time.Time) error
	// Session returns a sign-in and its account as it is now, with its groups, in one statement; ENotFound where either is gone.
	Session(ctx context.Context, id int64) (Session, User, error)
	// SignIns returns the sign-ins of a user that began after a time, newest first, whether they count any more or not.
	SignIns(ctx context.Context, tenant, user string, after time.Time, limit int) ([]Session, error)
	// SignedInFrom reports whether a user has signed in from an address after a time.
	SignedInFrom(ctx context.Context, tenant, user, address string, after time.Time) (bool, error)
	// User returns an account with its groups, or ENotFound.
	User(ctx context.Context, tenant, name string) (User, error)
}

// SessionsConfig is what Sessions is created from. Only what says so may be nil.
type SessionsConfig struct {
	Store SessionStore
	Now   func() time.Time
}

// Sessions are sign-ins from their beginning to their end.
type Sessions struct {
	SessionsConfig
}

// NewSessions returns them on top of what c holds.
func NewSessions(c SessionsConfig) *Sessions { return &Sessions{SessionsConfig: c} }

// How long a sign-in counts: so long without a request, and so long at most. Records of what is over are kept a while.
const (
	SessionIdle = 12 * time.Hour
	SessionLife = 7 * 24 * time.Hour
	sessionKept = 30 * 24 * time.Hour
	mostShown   = 200 // sign-ins in one list
)

// SignInHow says by what someone proved who they are.
type SignInHow string

// The ways.
const (
	ByPassword SignInHow = "password"
	ByOIDC     SignInHow = "oidc"
	ByLDAP     SignInHow = "ldap"
)

// Visit is where a person asks from, as the portal sees it.
type Visit struct {
	From    string // the address
	Browser string // in a few words for people, such as "Firefox on Linux"
	Looking bool   // no one asked for anything: a page looks whether it is still wanted
}

// Session is a sign-in of a person.
type Session struct {
	ID       int64     `json:"id"`
	Tenant   string    `json:"tenant"`
	User     string    `json:"user"`
	At       time.Time `json:"at"`
	SeenAt   time.Time `json:"seen_at"` // when it last asked for anything, to the minute
	From     string    `json:"from"`    // the address at the sign-in
	Browser  string    `json:"browser"`
	How      SignInHow `json:"how"`
	Provider string    `json:"provider,omitempty"` // which identity provider, by its name
	ProvenAt time.Time `json:"proven_at"`          // when the person last proved who they are
	// Mark is of the account's password when it began: with another password it does not count any more.
	Mark string `json:"-"`
	// Second is what was shown beside the password; "" where the account had no second factor.
	Second    app.FactorKind `json:"second_factor,omitempty"`
	RevokedAt time.Time      `json:"-"`
	This      bool           `json:"this,omitempty"` // the one that asks
}

// Ends is when it ends by itself, if no one uses it until then.
func (s Session) Ends() time.Time {
	if idle := s.SeenAt.Add(SessionIdle); idle.Before(s.At.Add(SessionLife)) {
		return idle
	}
	return s.At.Add(SessionLife)
}

// Over says why a sign-in of an account does not count, or returns nil.
func (s Session) Over(u User, now time.Time) error {
	gone := func(reason, message string) error {
		return &app.Error{Code: app.EUnauthorized, Reason: reason, Message: message, Hint: "Sign in again."}
	}
	switch {
	case u.Tenant == s.Tenant && u.Name == s.User && u.Disabled(): // which has revoked it, too
		return errDisabled()
	case !s.RevokedAt.IsZero():
		return gone("revoked", "This session was ended.")
	case u.Tenant != s.Tenant || u.Name != s.User || u.CreatedAt.After(s.At):
		return gone("account_gone", "The account was deleted.")
	case s.Mark != u.passwordMark():
		return gone("password_changed", "The password was changed.")
	case s.How == ByPassword && u.SecondFactor && s.Second == "": // it began before there was one, or at a server that doesn't know of them
		return gone(app.SecondFactorReason, "A second factor was added to this account.")
	case !now.Before(s.Ends()):
		return gone("expired", "Your session has expired.")
	}
	_, err := u.atPortal()
	return err
}

// passwordMark tells one password from another without telling anything of either.
func (u User) passwordMark() string {
	sum := sha256.Sum256([]byte("sign-in\x00" + u.PasswordHash))
	return hex.EncodeToString(sum[:12])
}

// atPortal returns the actor that a person of this account is, who has signed in.
func (u User) atPortal() (app.Actor, error) {
	switch {
	case u.Disabled():
		return app.Actor{}, errDisabled()
	case u.Role == app.RoleRobot:
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "robot", Message: "Robot accounts can't sign in.", Hint: "Use an API token."}
	}
	a := u.Actor()
	a.Via, a.MustChange = app.ViaPortal, u.MustChange && u.PasswordHash != ""
	a.MustAddFactor = u.FactorRequired && !u.SecondFactor && u.PasswordHash != ""
	return a, nil
}

// session is a sign-in of an account that begins now.
func (u User) session(now time.Time, how SignInHow, v Visit) Session {
	return Session{Tenant: u.Tenant, User: u.Name, At: now, SeenAt: now, From: v.From, Browser: v.Browser, How: how, ProvenAt: now, Mark: u.passwordMark()}
}

// beginSession signs a person in, whose proof was accepted just now.
func (a *Sessions) beginSession(ctx context.Context, u User, how SignInHow, provider string, second app.FactorKind, v Visit) (Session, error) {
	if _, err := u.atPortal(); err != nil {
		return Session{}, err
	}
	s := u.session(a.Now(), how, v)
	s.Provider, s.Second = provider, second
	var err error
	s.ID, err = a.Store.BeginSession(ctx, s)
	return s, err
}

// ActorOfSession returns who a sign-in represents, with role and groups as they are now. EUnauthorized says why it does not count
// any more: revoked, expired, password_changed, disabled, account_gone.
func (a *Sessions) ActorOfSession(ctx context.Context, id int64, v Visit) (app.Actor, error) {
	s, u, err := a.Store.Session(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "account_gone", Message: "This session no longer exists.", Hint: "Sign in again."}
	}
	if err != nil {
		return app.Actor{}, err
	}
	now := a.Now()
	if err := s.Over(u, now); err != nil {
		return app.Actor{}, err
	}
	if now.Sub(s.SeenAt) >= seenEvery && !v.Looking {
		// That it cannot be noted keeps no one from working, nor for long.
		note, cancel := context.WithTimeout(ctx, time.Second)
		_ = a.Store.TouchSession(note, s, now)
		cancel()
	}
	actor, err := u.atPortal()
	actor.Session, actor.ProvenAt, actor.SeenAt, actor.From = strconv.FormatInt(s.ID, 10), s.ProvenAt, now, v.From
	return actor, err
}

// SignOut ends a sign-in of which the browser has shown that it has it. One that is over already is success.
func (a *Sessions) SignOut(ctx context.Context, id int64) error {
	s, u, err := a.Store.Session(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	who := u.Actor()
	who.Via, who.Session = app.ViaPortal, strconv.FormatInt(id, 10)
	_, err = a.Store.RevokeSessions(ctx, who, s.User, id, 0, a.Now())
	return err
}

// Sessions lists the sign-ins of a user that still count, newest first; the actor's own where user is "". Admins may see those
// of any user of the tenant.
func (a *Sessions) Sessions(ctx context.Context, actor app.Actor, user string) ([]Session, error) {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("Sessions", user, "that sign-in"); err != nil {
		return nil, err
	}
	u, err := a.Store.User(ctx, actor.Tenant, user)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	all, err := a.Store.SignIns(ctx, actor.Tenant, user, now.Add(-SessionLife), mostShown)
	live := []Session{}
	for _, s := range all {
		if s.Over(u, now) == nil {
			s.This = actor.Session == strconv.FormatInt(s.ID, 10) && actor.Home == ""
			live = append(live, s)
		}
	}
	return live, err
}

// RevokeSession ends a sign-in of a user at once; the actor's own where user is "". ENotFound where that user has no such one.
func (a *Sessions) RevokeSession(ctx context.Context, actor app.Actor, user string, id int64) error {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("RevokeSession", user, "that sign-in"); err != nil {
		return err
	}
	n, err := a.Store.RevokeSessions(ctx, actor, user, id, 0, a.Now())
	if err == nil && n == 0 {
		err = &app.Error{Code: app.ENotFound, Message: "This session doesn't exist or has ended."}
	}
	return err
}

// RevokeAllSessions ends all sign-ins of a user but the one that asks, and returns how many.
func (a *Sessions) RevokeAllSessions(ctx context.Context, actor app.Actor, user string) (int, error) {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("RevokeAllSessions", user, "that sign-in"); err != nil {
		return 0, err
	}
	except := int64(0)
	if id, err := actor.SessionID(); err == nil && user == actor.User && actor.Home == "" {
		except = id
	}
	return a.Store.RevokeSessions(ctx, actor, user, 0, except, a.Now())
}

// KnownAddress reports whether a user has signed in from an address recently, so that a flood of wrong passwords from elsewhere
// does not lock them out.
func (a *Sessions) KnownAddress(ctx context.Context, tenant, user, address string) bool {
	known, err := a.Store.SignedInFrom(ctx, tenant, user, address, a.Now().Add(-sessionKept))
	return known && err == nil
}
