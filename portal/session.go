package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"muster/app"
)

// sessionTime is how long somebody stays signed in.
const sessionTime = 12 * time.Hour

// newSessions does not use scs.New, which would start a store of its own with a goroutine that cannot be stopped safely.
func newSessions(store scs.Store, secure bool, trouble func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	name := "muster"
	if secure {
		name = "__Host-muster" // browsers take such a cookie only over TLS, and from this host alone
	}
	return &scs.SessionManager{
		Lifetime: sessionTime, Store: store, Codec: scs.GobCodec{}, ErrorFunc: trouble, HashTokenInStore: true,
		Cookie: scs.SessionCookie{
			Name: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, Persist: true,
		},
	}
}

// The keys of a session.
const (
	keyTenant = "tenant"
	keyUser   = "user"
	keyRole   = "role"
)

func (p *Portal) putActor(ctx context.Context, a app.Actor) {
	p.sessions.Put(ctx, keyTenant, a.Tenant)
	p.sessions.Put(ctx, keyUser, a.User)
	p.sessions.Put(ctx, keyRole, string(a.Role))
}

// actor gives who is signed in. On pages outside of a session there is nobody.
func (p *Portal) actor(r *http.Request) (app.Actor, bool) {
	if !inSession(r) {
		return app.Actor{}, false
	}
	ctx := r.Context()
	a := app.Actor{
		Tenant: p.sessions.GetString(ctx, keyTenant),
		User:   p.sessions.GetString(ctx, keyUser),
		Role:   app.Role(p.sessions.GetString(ctx, keyRole)),
	}
	return a, a.User != "" && a.Tenant != ""
}

type sessionKey struct{}

func inSession(r *http.Request) bool { return r.Context().Value(sessionKey{}) != nil }

type (
	// handler answers a request or says why it cannot.
	handler func(w http.ResponseWriter, r *http.Request) error
	// memberHandler is a handler for those who have signed in.
	memberHandler func(w http.ResponseWriter, r *http.Request, a app.Actor) error
)

// page runs a handler and shows its error.
func (p *Portal) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, true))
		if err := h(w, r); err != nil {
			p.showError(w, r, err)
		}
	}
}

// member is page for those who have signed in; others are sent to the sign-in, and back afterwards.
func (p *Portal) member(h memberHandler) http.HandlerFunc {
	return p.page(func(w http.ResponseWriter, r *http.Request) error {
		a, ok := p.actor(r)
		if !ok {
			return p.sendToSignIn(w, r)
		}
		requestOf(r.Context()).user = a.Tenant + "/" + a.User
		return h(w, r, a)
	})
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
	case r.Header.Get("Accept") == "text/event-stream" || r.Header.Get("Muster-Part") != "":
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
	if u.Path == "/signin" || u.Path == "/signout" {
		return "/"
	}
	return next
}
