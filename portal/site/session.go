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

// The keys of a session. It holds no more than the number of the sign-in, so that what someone may is looked up at every
// request; beside it what a page is to say once, and who is away at an identity provider.
const (
	keySignIn = "signin"
	KeyWhy    = "why"
	KeyAway   = "away"
	KeyBy     = "by" // which identity provider it came by
	// What waits for a second factor, and what a security key was asked.
	KeyPending   = "pending"
	KeyChallenge = "challenge"
)

// Enter makes the browser's session stand for a sign-in. The token is a new one, so that one planted before is worth nothing.
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

// SignInOf returns the number of the sign-in that the browser's session stands for; 0 for none.
func (p *Site) SignInOf(r *http.Request) int64 {
	id, _ := p.Sessions.Get(r.Context(), keySignIn).(int64)
	return id
}

type PresenceKey struct{}

// Presence is who asks, looked up once in a request, when it is first wanted.
type Presence struct {
	once  sync.Once
	actor app.Actor
	err   error // EUnauthorized where no one is signed in
}

var errNobody = &app.Error{Code: app.EUnauthorized, Message: "You aren't signed in."}

// Whoever returns who is signed in, or EUnauthorized. On pages outside of a session there is no one.
func (p *Site) Whoever(r *http.Request) (app.Actor, error) {
	here, ok := r.Context().Value(PresenceKey{}).(*Presence)
	if !ok {
		return app.Actor{}, errNobody
	}
	here.once.Do(func() {
		id := p.SignInOf(r)
		if id == 0 {
			here.err = errNobody
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

// Actor returns who is signed in, for what is shown around a page.
func (p *Site) Actor(r *http.Request) (app.Actor, bool) {
	a, err := p.Whoever(r)
	return a, err == nil
}

// VisitOf is where a request comes from, for people.
func VisitOf(r *http.Request) identity.Visit {
	return identity.Visit{From: Address(r), Browser: BrowserOf(r.UserAgent())}
}

type (
	// handler answers a request or says why it cannot.
	Handler func(w http.ResponseWriter, r *http.Request) error
	// memberHandler is a handler for those who have signed in.
	MemberHandler func(w http.ResponseWriter, r *http.Request, a app.Actor) error
)

// KeyNext is the page that someone wanted before they were led to what must be done first.
const KeyNext = "next"

// Local returns a path of this site to go to, "/" for anything that could lead elsewhere.
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
