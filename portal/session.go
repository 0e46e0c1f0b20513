package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/alexedwards/scs/v2"

	"muster/app"
)

// newSessions does not use scs.New, which would start a store of its own with a goroutine that cannot be stopped safely.
func newSessions(store scs.Store, secure bool, trouble func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	name := "muster"
	if secure {
		name = "__Host-muster" // browsers take such a cookie only over TLS, and from this host alone
	}
	return &scs.SessionManager{
		Lifetime: app.SessionLife, Store: store, Codec: scs.GobCodec{}, ErrorFunc: trouble, HashTokenInStore: true,
		Cookie: scs.SessionCookie{
			Name: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, Persist: true,
		},
	}
}

// The keys of a session. It holds no more than the number of the sign-in, so that what somebody may is looked up at every
// request; beside it what a page is to say once, and who is away at an identity provider.
const (
	keySignIn = "signin"
	keyWhy    = "why"
	keyAway   = "away"
	keyBy     = "by" // which identity provider it came by
	// What waits for a second factor, and what a security key was asked.
	keyPending   = "pending"
	keyChallenge = "challenge"
)

// enter makes the browser's session stand for a sign-in. The token is a new one, so that one planted before is worth nothing.
func (p *Portal) enter(ctx context.Context, s app.Session) error {
	if err := p.sessions.RenewToken(ctx); err != nil {
		return err
	}
	for _, key := range p.sessions.Keys(ctx) {
		p.sessions.Remove(ctx, key)
	}
	p.sessions.Put(ctx, keySignIn, s.ID)
	return nil
}

// signInOf gives the number of the sign-in that the browser's session stands for; 0 for none.
func (p *Portal) signInOf(r *http.Request) int64 {
	id, _ := p.sessions.Get(r.Context(), keySignIn).(int64)
	return id
}

type presenceKey struct{}

// presence is who asks, looked up once in a request, when it is first wanted.
type presence struct {
	once  sync.Once
	actor app.Actor
	err   error // EUnauthorized where nobody is signed in
}

var errNobody = &app.Error{Code: app.EUnauthorized, Message: "You are not signed in."}

// whoever gives who is signed in, or EUnauthorized. On pages outside of a session there is nobody.
func (p *Portal) whoever(r *http.Request) (app.Actor, error) {
	here, ok := r.Context().Value(presenceKey{}).(*presence)
	if !ok {
		return app.Actor{}, errNobody
	}
	here.once.Do(func() {
		id := p.signInOf(r)
		if id == 0 {
			here.err = errNobody
			return
		}
		here.actor, here.err = p.muster.ActorOfSession(r.Context(), id, visitOf(r))
		if here.err == nil {
			here.actor, here.err = p.actingBySession(r.Context(), here.actor)
		}
		if e := app.AsError(here.err); here.err != nil && e.Code == app.EUnauthorized {
			p.sessions.Remove(r.Context(), keySignIn)
			p.sessions.Put(r.Context(), keyWhy, e.Message)
		}
	})
	return here.actor, here.err
}

// actor gives who is signed in, for what is shown around a page.
func (p *Portal) actor(r *http.Request) (app.Actor, bool) {
	a, err := p.whoever(r)
	return a, err == nil
}

// visitOf is where a request comes from, for people.
func visitOf(r *http.Request) app.Visit {
	return app.Visit{From: address(r), Browser: browserOf(r.UserAgent())}
}

type (
	// handler answers a request or says why it cannot.
	handler func(w http.ResponseWriter, r *http.Request) error
	// memberHandler is a handler for those who have signed in.
	memberHandler func(w http.ResponseWriter, r *http.Request, a app.Actor) error
)

// page runs a handler and shows its error.
func (p *Portal) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), presenceKey{}, &presence{}))
		if err := h(w, r); err != nil {
			p.showError(w, r, err)
		}
	}
}

// member is page for those who have signed in; others are sent to the sign-in, and back afterwards. Who must change the
// password, or add a second factor, is led to that and to nothing else.
func (p *Portal) member(h memberHandler) http.HandlerFunc {
	return p.adder(func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if a.MustAddFactor {
			return p.leadTo(w, r, factorsPath, &app.Error{Code: app.EForbidden, Reason: app.MustAddReason, Message: "Add a second factor first."})
		}
		return h(w, r, a)
	})
}

// adder is member, also for those who must add a second factor first.
func (p *Portal) adder(h memberHandler) http.HandlerFunc {
	return p.newcomer(func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if a.MustChange {
			return p.leadTo(w, r, "/account/password", &app.Error{Code: app.EForbidden, Reason: "must_change", Message: "Choose a password of your own first."})
		}
		return h(w, r, a)
	})
}

// keyNext is the page that somebody wanted before they were led to what must be done first.
const keyNext = "next"

// mostNext is the longest address that is remembered, in bytes.
const mostNext = 2000

// leadTo leads people to what must be done first, and remembers where they wanted to go; scripts get the error.
func (p *Portal) leadTo(w http.ResponseWriter, r *http.Request, to string, first error) error {
	if isPart(r) || r.Header.Get("HX-Request") != "" {
		return first
	}
	if next := local(r.URL.RequestURI()); r.Method == http.MethodGet && next != "/" && len(next) <= mostNext {
		p.sessions.Put(r.Context(), keyNext, next)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// newcomer is member, also for those who must change their password first.
func (p *Portal) newcomer(h memberHandler) http.HandlerFunc {
	return p.page(func(w http.ResponseWriter, r *http.Request) error {
		a, err := p.whoever(r)
		if app.CodeOf(err) == app.EUnauthorized {
			return p.sendToSignIn(w, r)
		}
		if err != nil {
			return err
		}
		requestOf(r.Context()).user = a.Tenant + "/" + a.User
		r = r.WithContext(a.In(r.Context())) // what the handler has read of the request is needed again below
		err = h(w, r, a)
		p.noteRefusal(r.Context(), a, r.Method+" "+r.URL.Path, err)
		if e := app.AsError(err); err != nil && e.Code == app.EForbidden && e.Reason == app.StepUpReason && a.Session != "" && !isPart(r) {
			return p.sendToStepUp(w, r)
		}
		if p.formAgain(w, r, err) {
			return nil
		}
		return err
	})
}

// isPart tells that a script asks for a part of a page, which cannot be led elsewhere.
func isPart(r *http.Request) bool {
	return r.Header.Get("Accept") == "text/event-stream" || r.Header.Get("Muster-Part") != ""
}

func (p *Portal) sendToSignIn(w http.ResponseWriter, r *http.Request) error {
	to := "/signin"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if back := local(r.URL.RequestURI()); back != "/" {
			to += "?next=" + url.QueryEscape(back)
		}
	}
	switch {
	case r.Header.Get("HX-Request") != "":
		w.Header().Set("HX-Redirect", "/signin?next="+url.QueryEscape("/clusters/new"))
		w.WriteHeader(http.StatusUnauthorized)
	case isPart(r):
		return app.Errorf(app.EUnauthorized, "You are not signed in any more.")
	default:
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
	return nil
}

// local gives a path of this site to go to, "/" for anything that could lead elsewhere.
func local(next string) string {
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
