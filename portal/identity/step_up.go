package identity

import (
	"net/http"
	"net/url"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// stepUps re-authenticate people, and keep the form they submitted meanwhile.
type stepUps struct {
	*site.Site

	limiter *limiter
}

func (p *stepUps) routes() []site.Route {
	return []site.Route{
		site.Show("/step-up", p.Ask).For(site.Adders),
		site.Submit("/step-up", p.Confirm).For(site.Adders),
		site.Show(afterProof, p.Continue).For(site.Adders),
	}
}

func (p *stepUps) operations() []site.Operation { return nil }

// SendToStepUp redirects to the step-up page, which returns afterwards. A submitted form is kept if possible, and submitted again when
// the person confirms it.
func (p *stepUps) SendToStepUp(w http.ResponseWriter, r *http.Request) error {
	back := "/"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		back = site.Local(r.URL.RequestURI())
	default:
		// Muster's Referrer-Policy sends a referrer to its own pages only.
		if u, err := url.Parse(r.Referer()); err == nil && (u.Host == r.Host || p.URL != "" && u.Scheme+"://"+u.Host == p.URL) {
			back = site.Local(u.RequestURI())
		}
		if back == afterProof { // which shows a form once
			back = "/"
		}
		p.keepForm(w, r, back)
	}
	return StepUpFor(w, r, back)
}

// StepUpFor redirects to the step-up page, and then to a page.
func StepUpFor(w http.ResponseWriter, r *http.Request, back string) error {
	to := "/step-up?next=" + url.QueryEscape(back)
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusForbidden)
		return nil
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (p *stepUps) Ask(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, a, http.StatusOK, p.read(w, r, site.Local(r.URL.Query().Get("next"))))
}

func (p *stepUps) read(w http.ResponseWriter, r *http.Request, next string) StepUp {
	f := p.formOf(w, r, false)
	return StepUp{Next: next, Kept: f != nil && f.Back == next}
}

func (p *stepUps) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, s StepUp) error {
	if at := providerNamed(p.Site, cameBy(p.Site, r)); at != nil {
		s.Label, s.Path = at.Label(), "/step-up/"+at.Name()+"?next="+url.QueryEscape(s.Next)
	} else if d := directoryNamed(p.Site, cameBy(p.Site, r)); d != nil {
		s.Label = d.Label()
	} else {
		have, err := p.Factors.SecondFactors(r.Context(), a)
		if err != nil {
			return err
		}
		if s.Factor, err = askFactor(p.Site, r, homeOf(a), a.User, have); err != nil {
			return err
		}
	}
	f := p.Frame(r, "Confirm it's you")
	f.Scripts = keyScripts(s.Factor.Options)
	p.Render(w, r, status, StepUpPage(f, s))
	return nil
}

func (p *stepUps) Confirm(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	s := p.read(w, r, site.Local(r.PostForm.Get("next")))
	password := r.PostForm.Get("password")
	if password == "" {
		s.Complaint = page.Complaint{Message: "Enter your password."}
		return p.show(w, r, a, http.StatusUnprocessableEntity, s)
	}
	try := func() error {
		return p.Accounts.StepUp(r.Context(), a, password, proofOf(p.Site, r, homeOf(a), a.User))
	}
	attempt := func() (time.Duration, error) { return p.limiter.attempt(r, homeOf(a), a.User, try) }
	if d := directoryNamed(p.Site, cameBy(p.Site, r)); d != nil {
		attempt = func() (time.Duration, error) { return p.confirmBy(r, a, d, password) }
	}
	wait, err := attempt()
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		s.Complaint = page.Complaint{Message: "Too many attempts.", Hint: "Try again in " + humanize.Duration(wait) + "."}
		return p.show(w, r, a, http.StatusTooManyRequests, s)
	}
	if e := app.AsError(err); err != nil && (e.Code == app.EUnauthorized || e.Code == app.ERateLimit || e.Code == app.ETransient ||
		e.Code == app.ECredentials || e.Reason == "no_password") {
		s.Field, s.Complaint = e.Field, page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.show(w, r, a, site.StatusOf(err), s)
	}
	if err != nil {
		return err
	}
	p.acceptPartial(w, r, s.Next)
	return nil
}

func (p *providers) StepUp(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	return p.sendAway(w, r, true)
}

// steppedUp finishes re-authentication at an identity provider.
func (p *stepUps) steppedUp(w http.ResponseWriter, r *http.Request, s identity.Subject, next string) error {
	a, err := p.SignedIn(r)
	if app.CodeOf(err) == app.EUnauthorized {
		return signInTrouble(p.Site, w, r, next, errNotAway)
	}
	if err != nil {
		return err
	}
	if err := p.Accounts.StepUpBy(r.Context(), a, s.Issuer, s.ID); err != nil {
		return err
	}
	p.acceptPartial(w, r, next)
	return nil
}

// homeOf is the home tenant of an actor, even while they act in another one.
func homeOf(a app.Actor) string {
	if a.Home != "" {
		return a.Home
	}
	return a.Tenant
}
