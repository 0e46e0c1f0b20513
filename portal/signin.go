package portal

import (
	"net/http"
	"strings"

	"muster/app"
	"muster/portal/page"
)

func (p *Portal) signInShow(w http.ResponseWriter, r *http.Request) error {
	next := local(r.URL.Query().Get("next"))
	if _, ok := p.actor(r); ok {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	p.render(w, r, http.StatusOK, page.SignInPage(p.frame(r, "Sign in"), page.SignIn{Tenant: r.URL.Query().Get("tenant"), Next: next}))
	return nil
}

func (p *Portal) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return err
	}
	in := page.SignIn{
		Tenant: strings.TrimSpace(r.PostForm.Get("tenant")),
		User:   strings.TrimSpace(r.PostForm.Get("user")),
		Next:   local(r.PostForm.Get("next")),
	}
	password := r.PostForm.Get("password")
	again := func(status int, field, message, hint string) error {
		in.Field, in.Error, in.Hint = field, message, hint
		p.render(w, r, status, page.SignInPage(p.frame(r, "Sign in"), in))
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
	key := attemptKey{address(r), tenant + "/" + in.User}
	if wait := p.attempts.begin(key); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return again(http.StatusTooManyRequests, "password", "Too many attempts.", "Try again in "+page.Span(wait)+".")
	}
	actor, err := p.muster.SignIn(r.Context(), tenant, in.User, password)
	if app.CodeOf(err) == app.EUnauthorized {
		return again(http.StatusUnauthorized, "password", app.AsError(err).Message, app.AsError(err).Hint)
	}
	if err != nil {
		// It was not the password that was wrong, so the attempt is not held against anybody.
		p.attempts.forgive(key)
		return err
	}
	p.attempts.forget(key)
	// A new token for a new right, so that a token planted before is worth nothing.
	if err := p.sessions.RenewToken(r.Context()); err != nil {
		return err
	}
	p.putActor(r.Context(), actor)
	http.Redirect(w, r, in.Next, http.StatusSeeOther)
	return nil
}

func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := p.sessions.Destroy(r.Context()); err != nil {
		return err
	}
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
	return nil
}
