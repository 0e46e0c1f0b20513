package identity

import (
	"net/http"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/site"
)

// passwordSignIn serves sign-in by password and second factor, and sign-out.
type passwordSignIn struct {
	*site.Site

	limiter   *limiter
	providers *providers
}

func (p *passwordSignIn) routes() []site.Route {
	return []site.Route{
		site.ShowAll("/signin", p.Ask),
		site.SubmitAll("/signin", p.SignIn),
		site.SubmitAll("/signout", p.SignOut),
		site.ShowAll(PendingPath, p.PendingShow),
		site.SubmitAll(PendingPath, p.PendingFinish),
	}
}

func (p *passwordSignIn) operations() []site.Operation { return nil }

func (p *passwordSignIn) Ask(w http.ResponseWriter, r *http.Request) error {
	next := site.Local(r.URL.Query().Get("next"))
	switch _, err := p.SignedIn(r); {
	case err == nil:
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	case app.CodeOf(err) != app.EUnauthorized:
		return err
	}
	in := SignIn{Tenant: r.URL.Query().Get("tenant"), Next: next}
	if q := r.URL.Query().Get("out"); q != "" {
		in.Notice = "You've signed out."
		if at := providerNamed(p.Site, q); at != nil {
			in.LeaveLabel, in.LeavePath = at.Label(), "/signin/"+at.Name()+"/leave"
		}
	}
	showSignIn(p.Site, w, r, http.StatusOK, in)
	return nil
}

// showSignIn shows the sign-in page, with a notice that is shown once.
func showSignIn(p *site.Site, w http.ResponseWriter, r *http.Request, status int, in SignIn) {
	if why := p.Sessions.PopString(r.Context(), site.KeyWhy); in.Notice == "" {
		in.Notice = why
	}
	for _, d := range p.Directories {
		in.Directories = append(in.Directories, d.Label())
	}
	for _, e := range p.Elsewhere {
		in.Elsewhere = append(in.Elsewhere, Elsewhere{Label: e.Label(), Path: "/signin/" + e.Name()})
	}
	p.Render(w, r, status, SignInPage(p.Frame(r, "Sign in"), in))
}

func (p *passwordSignIn) SignIn(w http.ResponseWriter, r *http.Request) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := SignIn{
		Tenant: strings.TrimSpace(r.PostForm.Get("tenant")),
		User:   strings.TrimSpace(r.PostForm.Get("user")),
		Next:   site.Local(r.PostForm.Get("next")),
	}
	password := r.PostForm.Get("password")
	again := func(status int, field, message, hint string) error {
		in.Field, in.Error, in.Hint = field, message, hint
		showSignIn(p.Site, w, r, status, in)
		return nil
	}
	switch {
	case in.User == "":
		return again(http.StatusUnprocessableEntity, "user", "Enter your username.", "")
	case len(in.User) > 128 || len(in.Tenant) > 128:
		return again(http.StatusUnprocessableEntity, "user", "Username and tenant must be at most 128 characters.", "")
	case password == "":
		return again(http.StatusUnprocessableEntity, "password", "Enter your password.", "")
	case len(password) > 1024:
		// Hashing a huge password costs the server more than its sender.
		return again(http.StatusUnprocessableEntity, "password", "Password must be at most 1024 characters.", "")
	}
	tenant := in.Tenant
	if tenant == "" {
		tenant = app.DefaultTenant
	}
	if len(p.Directories) > 0 {
		switch here, err := p.SignIns.HasPassword(r.Context(), tenant, in.User); {
		case err != nil:
			return err
		case !here:
			return p.byDirectory(w, r, in, password)
		}
	}
	var begun identity.Session
	wait, err := p.limiter.attempt(r, tenant, in.User, func() (err error) {
		begun, err = p.SignIns.SignIn(r.Context(), tenant, in.User, password, site.VisitOf(r))
		return err
	})
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return again(http.StatusTooManyRequests, "password", "Too many attempts.", "Try again in "+humanize.Duration(wait)+".")
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
	if err := replaceSession(p.Site, r, begun); err != nil {
		return err
	}
	http.Redirect(w, r, in.Next, http.StatusSeeOther)
	return nil
}

// limiter limits how often passwords are tried.
type limiter struct {
	*site.Site

	attempts *attempts
}

// attempt tries a password within the limits, or returns how long to wait. Failures for other reasons than the password don't count.
func (p *limiter) attempt(r *http.Request, tenant, user string, try func() error) (wait time.Duration, err error) {
	return p.attemptAs(r, tenant+"/"+user, func(address string) bool { return p.SignIns.KnownAddress(r.Context(), tenant, user, address) }, try)
}

// attemptAs is attempt for anyone who is counted under a name; known reports whether they were at an address before.
func (p *limiter) attemptAs(r *http.Request, who string, known func(address string) bool, try func() error) (wait time.Duration, err error) {
	key := AttemptKey{site.Address(r), who}
	if wait := p.attempts.Begin(key, p.attempts.Crowded(who) && known(key.Address)); wait > 0 {
		return wait, nil
	}
	err = try()
	switch {
	case err == nil:
		p.attempts.Forget(key)
	case app.CodeOf(err) != app.EUnauthorized:
		p.attempts.forgive(key)
	}
	return 0, err
}

// replaceSession starts a session in the browser and ends its previous one.
func replaceSession(p *site.Site, r *http.Request, begun identity.Session) error {
	if before := p.SignInOf(r); before != 0 && before != begun.ID {
		if err := p.SignIns.SignOut(r.Context(), before); err != nil {
			return err
		}
	}
	return p.Enter(r.Context(), begun)
}

func (p *passwordSignIn) SignOut(w http.ResponseWriter, r *http.Request) error {
	to := "/signin"
	if id := p.SignInOf(r); id != 0 {
		// People who came from an identity provider may want to sign out there too.
		if from := cameBy(p.Site, r); from != "" {
			to += "?out=" + from
		}
		if err := p.SignIns.SignOut(r.Context(), id); err != nil {
			return err
		}
	}
	if err := p.Sessions.Destroy(r.Context()); err != nil {
		return err
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
