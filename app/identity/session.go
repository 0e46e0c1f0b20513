package identity

import (
	"context"
	"strconv"
	"time"

	"muster/app"
)

// SessionStore keeps sign-ins.
type SessionStore interface {
	// BeginSession writes a sign-in and the audit of it, drops old records, and gives its id.
	BeginSession(ctx context.Context, s app.Session) (int64, error)
	// Session gives a sign-in and its account as it is now, with its groups, in one statement; ENotFound where either is gone.
	Session(ctx context.Context, id int64) (app.Session, app.User, error)
	// SignIns gives the sign-ins of a user that began after a time, newest first, whether they count any more or not.
	SignIns(ctx context.Context, tenant, user string, after time.Time, limit int) ([]app.Session, error)
	// SawSession notes that a sign-in, and so its user, was there.
	SawSession(ctx context.Context, s app.Session, at time.Time) error
	// ProveSession notes that a person has proved again who they are, in the sign-in that the actor asks from.
	ProveSession(ctx context.Context, who app.Actor, id int64, at time.Time) error
	// RevokeSessions ends those of a user: the one with the id, or, where that is 0, all but one (0: all). It gives how many were
	// not ended already.
	RevokeSessions(ctx context.Context, who app.Actor, user string, id, except int64, at time.Time) (int, error)
	// SignedInFrom tells whether a user has signed in from an address after a time.
	SignedInFrom(ctx context.Context, tenant, user, address string, after time.Time) (bool, error)
	// ChangePassword sets the actor's own password, ends its tokens and all its other sign-ins, and lets the one that asks go on with that mark.
	ChangePassword(ctx context.Context, who app.Actor, session int64, hash, mark string, at time.Time) error
}

// beginSession signs a person in, whose proof was accepted just now.
func (a *Service) beginSession(ctx context.Context, u app.User, how app.SignInHow, provider string, second app.FactorKind, v app.Visit) (app.Session, error) {
	if _, err := u.AtPortal(); err != nil {
		return app.Session{}, err
	}
	s := u.Session(a.Now(), how, v)
	s.Provider, s.Second = provider, second
	var err error
	s.ID, err = a.Store.BeginSession(ctx, s)
	return s, err
}

// ActorOfSession gives who a sign-in stands for, with role and groups as they are now. EUnauthorized says why it does not count
// any more: revoked, expired, password_changed, disabled, account_gone.
func (a *Service) ActorOfSession(ctx context.Context, id int64, v app.Visit) (app.Actor, error) {
	s, u, err := a.Store.Session(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "account_gone", Message: "This sign-in is not known any more.", Hint: "Sign in again."}
	}
	if err != nil {
		return app.Actor{}, err
	}
	now := a.Now()
	if err := s.Over(u, now); err != nil {
		return app.Actor{}, err
	}
	if now.Sub(s.SeenAt) >= app.SeenEvery && !v.Looking {
		// That it cannot be noted keeps nobody from working, nor for long.
		note, cancel := context.WithTimeout(ctx, time.Second)
		_ = a.Store.SawSession(note, s, now)
		cancel()
	}
	actor, err := u.AtPortal()
	actor.Session, actor.ProvenAt, actor.SeenAt, actor.From = strconv.FormatInt(s.ID, 10), s.ProvenAt, now, v.From
	return actor, err
}

// SignOut ends a sign-in of which the browser has shown that it has it. One that is over already is success.
func (a *Service) SignOut(ctx context.Context, id int64) error {
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
func (a *Service) Sessions(ctx context.Context, actor app.Actor, user string) ([]app.Session, error) {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("Sessions", user, "that sign-in"); err != nil {
		return nil, err
	}
	u, err := a.Store.User(ctx, actor.Tenant, user)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	all, err := a.Store.SignIns(ctx, actor.Tenant, user, now.Add(-app.SessionLife), app.MostShown)
	live := []app.Session{}
	for _, s := range all {
		if s.Over(u, now) == nil {
			s.This = actor.Session == strconv.FormatInt(s.ID, 10) && actor.Home == ""
			live = append(live, s)
		}
	}
	return live, err
}

// RevokeSession ends a sign-in of a user at once; the actor's own where user is "". ENotFound where that user has no such one.
func (a *Service) RevokeSession(ctx context.Context, actor app.Actor, user string, id int64) error {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("RevokeSession", user, "that sign-in"); err != nil {
		return err
	}
	n, err := a.Store.RevokeSessions(ctx, actor, user, id, 0, a.Now())
	if err == nil && n == 0 {
		err = &app.Error{Code: app.ENotFound, Message: "There is no such sign-in (any more)."}
	}
	return err
}

// RevokeAllSessions ends all sign-ins of a user but the one that asks, and gives how many.
func (a *Service) RevokeAllSessions(ctx context.Context, actor app.Actor, user string) (int, error) {
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

// KnownAddress tells whether a user has signed in from an address lately, so that a flood of wrong passwords from elsewhere
// does not lock them out.
func (a *Service) KnownAddress(ctx context.Context, tenant, user, address string) bool {
	known, err := a.Store.SignedInFrom(ctx, tenant, user, address, a.Now().Add(-app.SessionKept))
	return known && err == nil
}

// SignInStore keeps how people come in and who they are elsewhere.
type SignInStore interface {
	SessionStore
	SubjectStore
	IdentityStore
	DeviceStore
	SecondFactorStore
}
