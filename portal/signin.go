package portal

import (
	"context"
	"net/http"
	"strings"
	"time"

	"muster/app"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

func (p *Portal) signInShow(w http.ResponseWriter, r *http.Request) error {
	next := local(r.URL.Query().Get("next"))
	switch _, err := p.whoever(r); {
	case err == nil:
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	case app.CodeOf(err) != app.EUnauthorized:
		return err
	}
	in := identitypage.SignIn{Tenant: r.URL.Query().Get("tenant"), Next: next}
	if q := r.URL.Query().Get("out"); q != "" {
		in.Notice = "You are signed out."
		if at := p.provider(q); at != nil {
			in.LeaveLabel, in.LeavePath = at.Label(), "/signin/"+at.Name()+"/leave"
		}
	}
	p.showSignIn(w, r, http.StatusOK, in)
	return nil
}

// showSignIn shows the page where people sign in, with what is to be said once.
func (p *Portal) showSignIn(w http.ResponseWriter, r *http.Request, status int, in identitypage.SignIn) {
	if why := p.sessions.PopString(r.Context(), keyWhy); in.Notice == "" {
		in.Notice = why
	}
	for _, e := range p.elsewhere {
		in.Elsewhere = append(in.Elsewhere, identitypage.Elsewhere{Label: e.Label(), Path: "/signin/" + e.Name()})
	}
	p.render(w, r, status, identitypage.SignInPage(p.frame(r, "Sign in"), in))
}

func (p *Portal) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return err
	}
	in := identitypage.SignIn{
		Tenant: strings.TrimSpace(r.PostForm.Get("tenant")),
		User:   strings.TrimSpace(r.PostForm.Get("user")),
		Next:   local(r.PostForm.Get("next")),
	}
	password := r.PostForm.Get("password")
	again := func(status int, field, message, hint string) error {
		in.Field, in.Error, in.Hint = field, message, hint
		p.showSignIn(w, r, status, in)
		return nil
	}
	switch {
	case in.User == "":
		return again(http.StatusUnprocessableEntity, "user", "Who are you?", "")
	case len(in.User) > 128 || len(in.Tenant) > 128:
		return again(http.StatusUnprocessableEntity, "user", "That name is too long.", "")
	case password == "":
		return again(http.StatusUnprocessableEntity, "password", "The password is missing.", "")
	case len(password) > 1024:
		// Hashing a huge password costs us more than it costs whoever sends it.
		return again(http.StatusUnprocessableEntity, "password", "That password is too long.", "")
	}
	tenant := in.Tenant
	if tenant == "" {
		tenant = app.DefaultTenant
	}
	var begun app.Session
	wait, err := p.attempt(r, tenant, in.User, func() (err error) {
		begun, err = p.muster.SignIn(r.Context(), tenant, in.User, password, visitOf(r))
		return err
	})
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return again(http.StatusTooManyRequests, "password", "Too many attempts.", "Try again in "+page.Span(wait)+".")
	}
	if app.AsError(err).Reason == app.SecondFactorReason {
		return p.askSecondFactor(w, r, begun, in.Next)
	}
	if app.CodeOf(err) == app.EUnauthorized {
		return again(http.StatusUnauthorized, "password", app.AsError(err).Message, app.AsError(err).Hint)
	}
	if err != nil {
		return err
	}
	if err := p.replace(r, begun); err != nil {
		return err
	}
	http.Redirect(w, r, in.Next, http.StatusSeeOther)
	return nil
}

// attempt lets a password be tried, within the limits, or gives how long to wait. What fails for another reason than the
// password is held against nobody.
func (p *Portal) attempt(r *http.Request, tenant, user string, try func() error) (wait time.Duration, err error) {
	key := attemptKey{address(r), tenant + "/" + user}
	known := false
	if k, ok := p.muster.(interface {
		KnownAddress(ctx context.Context, tenant, user, address string) bool
	}); ok && p.attempts.crowded(key.user) {
		known = k.KnownAddress(r.Context(), tenant, user, key.address)
	}
	if wait := p.attempts.begin(key, known); wait > 0 {
		return wait, nil
	}
	err = try()
	switch {
	case err == nil:
		p.attempts.forget(key)
	case app.CodeOf(err) != app.EUnauthorized:
		p.attempts.forgive(key)
	}
	return 0, err
}

// replace begins to stand for a sign-in; the one that the browser had before ends.
func (p *Portal) replace(r *http.Request, begun app.Session) error {
	if before := p.signInOf(r); before != 0 && before != begun.ID {
		if err := p.muster.SignOut(r.Context(), before); err != nil {
			return err
		}
	}
	return p.enter(r.Context(), begun)
}

func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	to := "/signin"
	if id := p.signInOf(r); id != 0 {
		// Where the person came by an identity provider, they may want to leave that one too.
		if from := p.cameBy(r); from != "" {
			to += "?out=" + from
		}
		if err := p.muster.SignOut(r.Context(), id); err != nil {
			return err
		}
	}
	if err := p.sessions.Destroy(r.Context()); err != nil {
		return err
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
