package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"muster/app"
	"muster/app/identity"
)

// The keys of a session. It holds only the number of the sign-in, so that permissions are looked up on every request; besides one-time
// messages and the state of a sign-in at an identity provider.
const (
	keySignIn = "signin"
	KeyWhy    = "why"
	KeyAway   = "away"
	KeyBy     = "by"    // identity provider or directory
	KeyLogin  = "login" // what the person entered as name, at a directory
	// A pending second factor, and a security key's challenge.
	KeyPending   = "pending"
	KeyChallenge = "challenge"
)

// Enter ties the browser's session to a sign-in, with a new token against session fixation.
func (p *Site) Enter(ctx context.Context, s identity.Session) error {
	if err := p.Sessions.RenewToken(ctx); err != nil {
		return err
	}
	for _, key := range p.Sessions.Keys(ctx) {
		p.Sessions.Remove(ctx, key)
	}
	p.Sessions.Put(ctx, keySignIn, s.ID)
	return nil
}

// SignInOf returns the number of the session's sign-in; 0 for none.
func (p *Site) SignInOf(r *http.Request) int64 {
	id, _ := p.Sessions.Get(r.Context(), keySignIn).(int64)
	return id
}

type PresenceKey struct{}

// Presence is a request's actor, looked up once on first use.
type Presence struct {
	once  sync.Once
	actor app.Actor
	err   error // EUnauthorized if not signed in
}

var errNotSignedIn = &app.Error{Code: app.EUnauthorized, Message: "You aren't signed in."}

// SignedIn returns the signed-in actor, or EUnauthorized. Pages without a session have none.
func (p *Site) SignedIn(r *http.Request) (app.Actor, error) {
	here, ok := r.Context().Value(PresenceKey{}).(*Presence)
	if !ok {
		return app.Actor{}, errNotSignedIn
	}
	here.once.Do(func() {
		id := p.SignInOf(r)
		if id == 0 {
			here.err = errNotSignedIn
			return
		}
		here.actor, here.err = p.SignIns.ActorOfSession(r.Context(), id, VisitOf(r))
		if here.err == nil {
			here.actor, here.err = p.actingBySession(r.Context(), here.actor)
		}
		if e := app.AsError(here.err); here.err != nil && e.Code == app.EUnauthorized {
			p.Sessions.Remove(r.Context(), keySignIn)
			p.Sessions.Put(r.Context(), KeyWhy, e.Message)
		}
	})
	return here.actor, here.err
}

// Actor returns the signed-in actor, for the frame of a page.
func (p *Site) Actor(r *http.Request) (app.Actor, bool) {
	a, err := p.SignedIn(r)
	return a, err == nil
}

// VisitOf is a request's origin for display.
func VisitOf(r *http.Request) identity.Visit {
	return identity.Visit{From: Address(r), Browser: BrowserOf(r.UserAgent())}
}

type (
	// handler answers a request or returns an error.
	Handler func(w http.ResponseWriter, r *http.Request) error
	// memberHandler is a handler for signed-in people.
	MemberHandler func(w http.ResponseWriter, r *http.Request, a app.Actor) error
)

// KeyNext is the page to return to after a required step.
const KeyNext = "next"

// Local returns a path of this site, "/" for anything that could lead elsewhere.
func Local(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t\x00") {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, "/\\") {
		return "/"
	}
	if u.Path == "/signin" || strings.HasPrefix(u.Path, "/signin/") || u.Path == "/signout" || u.Path == "/step-up" {
		return "/"
	}
	return next
}
