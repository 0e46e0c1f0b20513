package portal

import (
	"context"
	"net/http"
	"net/url"

	"github.com/alexedwards/scs/v2"
	"muster/app"
	appidentity "muster/app/identity"
	"muster/portal/identity"
	"muster/portal/site"
)

// newSessions doesn't use scs.New, which would start its own store with a goroutine that can't be stopped safely.
func newSessions(store scs.Store, secure bool, trouble func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	name := "muster"
	if secure {
		name = "__Host-muster" // browsers accept such a cookie only over TLS and from this host
	}
	return &scs.SessionManager{
		Lifetime: appidentity.SessionLife, Store: store, Codec: scs.GobCodec{}, ErrorFunc: trouble, HashTokenInStore: true,
		Cookie: scs.SessionCookie{
			Name: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, Persist: true,
		},
	}
}

// page runs a handler and shows its error.
func (p *Portal) page(h site.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), site.PresenceKey{}, &site.Presence{}))
		if err := h(w, r); err != nil {
			p.ShowError(w, r, err)
		}
	}
}

// member is page for signed-in people; others are sent to the sign-in page and back afterwards. People who must change their password or
// add a second factor are sent there first.
func (p *Portal) member(h site.MemberHandler) http.HandlerFunc {
	return p.adder(func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if a.MustAddFactor {
			return p.leadTo(w, r, identity.FactorsPath, &app.Error{Code: app.EForbidden, Reason: app.MustAddReason, Message: "Add a second factor to continue."})
		}
		return h(w, r, a)
	})
}

// adder is member, also for people who must add a second factor first.
func (p *Portal) adder(h site.MemberHandler) http.HandlerFunc {
	return p.newcomer(func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if a.MustChange {
			return p.leadTo(w, r, "/account/password", &app.Error{Code: app.EForbidden, Reason: "must_change", Message: "Set a new password to continue."})
		}
		return h(w, r, a)
	})
}

// maxNext limits a remembered path, in bytes.
const maxNext = 2000

// leadTo redirects people to a required step, and remembers the page they wanted; scripts get the error.
func (p *Portal) leadTo(w http.ResponseWriter, r *http.Request, to string, first error) error {
	if isPart(r) || r.Header.Get("HX-Request") != "" {
		return first
	}
	if next := site.Local(r.URL.RequestURI()); r.Method == http.MethodGet && next != "/" && len(next) <= maxNext {
		p.Sessions.Put(r.Context(), site.KeyNext, next)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// newcomer is member, also for people who must change their password first.
func (p *Portal) newcomer(h site.MemberHandler) http.HandlerFunc {
	return p.page(func(w http.ResponseWriter, r *http.Request) error {
		a, err := p.SignedIn(r)
		if app.CodeOf(err) == app.EUnauthorized {
			return p.sendToSignIn(w, r)
		}
		if err != nil {
			return err
		}
		site.RequestOf(r.Context()).User = a.Tenant + "/" + a.User
		r = r.WithContext(a.In(r.Context())) // the parsed request is needed below
		err = h(w, r, a)
		p.NoteRefusal(r.Context(), a, r.Method+" "+r.URL.Path, err)
		if e := app.AsError(err); err != nil && e.Code == app.EForbidden && e.Reason == app.StepUpReason && a.Session != "" && !isPart(r) {
			return p.identity.StepUps.SendToStepUp(w, r)
		}
		if p.formAgain(w, r, err) {
			return nil
		}
		return err
	})
}

// isPart reports whether a script requests part of a page, which can't be redirected.
func isPart(r *http.Request) bool {
	return r.Header.Get("Accept") == "text/event-stream" || r.Header.Get("Muster-Part") != ""
}

func (p *Portal) sendToSignIn(w http.ResponseWriter, r *http.Request) error {
	to := "/signin"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if back := site.Local(r.URL.RequestURI()); back != "/" {
			to += "?next=" + url.QueryEscape(back)
		}
	}
	// A cookie without a session is what is left of one that has expired. Where only the sign-in has ended, SignedIn says why.
	if _, err := r.Cookie(p.Sessions.Cookie.Name); err == nil && p.Sessions.Token(r.Context()) == "" && !isPart(r) {
		p.Sessions.Put(r.Context(), site.KeyWhy, "Your session has expired. Sign in again.")
	}
	switch {
	case r.Header.Get("HX-Request") != "":
		w.Header().Set("HX-Redirect", "/signin?next="+url.QueryEscape("/clusters/new"))
		w.WriteHeader(http.StatusUnauthorized)
	case isPart(r):
		return app.Errorf(app.EUnauthorized, "Your session has expired. Sign in again.")
	default:
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
	return nil
}
