package portal

import (
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// sendToStepUp redirects to the step-up page, which leads back afterwards. A submitted form is kept if it can be, and submitted again when the
// person confirms it.
func (p *Portal) sendToStepUp(w http.ResponseWriter, r *http.Request) error {
	back := "/"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		back = local(r.URL.RequestURI())
	default:
		// Our pages tell our own pages where people come from, and nobody else.
		if u, err := url.Parse(r.Referer()); err == nil && (u.Host == r.Host || p.url != "" && u.Scheme+"://"+u.Host == p.url) {
			back = local(u.RequestURI())
		}
		if back == afterProof { // which shows a form once
			back = "/"
		}
		p.keepForm(w, r, back)
	}
	return stepUpFor(w, r, back)
}

// stepUpFor sends somebody to prove who they are, and then to a page.
func stepUpFor(w http.ResponseWriter, r *http.Request, back string) error {
	to := "/step-up?next=" + url.QueryEscape(back)
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusForbidden)
		return nil
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (p *Portal) stepUpAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showStepUp(w, r, a, http.StatusOK, p.stepUpPage(w, r, local(r.URL.Query().Get("next"))))
}

func (p *Portal) stepUpPage(w http.ResponseWriter, r *http.Request, next string) identitypage.StepUp {
	f := p.formOf(w, r, false)
	return identitypage.StepUp{Next: next, Kept: f != nil && f.Back == next}
}

func (p *Portal) showStepUp(w http.ResponseWriter, r *http.Request, a app.Actor, status int, s identitypage.StepUp) error {
	if at := p.provider(p.cameBy(r)); at != nil {
		s.Label, s.Path = at.Label(), "/step-up/"+at.Name()+"?next="+url.QueryEscape(s.Next)
	} else {
		have, err := p.accounts().SecondFactors(r.Context(), a)
		if err != nil {
			return err
		}
		if s.Factor, err = p.askFactor(r, homeOf(a), a.User, have); err != nil {
			return err
		}
	}
	f := p.frame(r, "Is it you?")
	f.Scripts = keyScripts(s.Factor.Options)
	p.render(w, r, status, identitypage.StepUpPage(f, s))
	return nil
}

func (p *Portal) stepUp(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	s := p.stepUpPage(w, r, local(r.PostForm.Get("next")))
	password := r.PostForm.Get("password")
	if password == "" {
		s.Complaint = page.Complaint{Message: "The password is missing."}
		return p.showStepUp(w, r, a, http.StatusUnprocessableEntity, s)
	}
	wait, err := p.attempt(r, homeOf(a), a.User, func() error { return p.accounts().StepUp(r.Context(), a, password, p.proofOf(r, homeOf(a), a.User)) })
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		s.Complaint = page.Complaint{Message: "Too many attempts.", Hint: "Try again in " + page.Span(wait) + "."}
		return p.showStepUp(w, r, a, http.StatusTooManyRequests, s)
	}
	if e := app.AsError(err); err != nil && (e.Code == app.EUnauthorized || e.Code == app.ERateLimit || e.Reason == "no_password") {
		s.Field, s.Complaint = e.Field, page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showStepUp(w, r, a, statusOf(err), s)
	}
	if err != nil {
		return err
	}
	p.goOn(w, r, s.Next)
	return nil
}

func (p *Portal) stepUpAway(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	return p.sendAway(w, r, true)
}

// steppedUp takes somebody who has signed in again at an identity provider.
func (p *Portal) steppedUp(w http.ResponseWriter, r *http.Request, s identity.Subject, next string) error {
	a, err := p.whoever(r)
	if app.CodeOf(err) == app.EUnauthorized {
		return p.signInTrouble(w, r, next, errNotAway)
	}
	if err != nil {
		return err
	}
	if err := p.accounts().StepUpBy(r.Context(), a, s.Issuer, s.ID); err != nil {
		return err
	}
	p.goOn(w, r, next)
	return nil
}

// homeOf is the tenant of somebody's account, wherever they act.
func homeOf(a app.Actor) string {
	if a.Home != "" {
		return a.Home
	}
	return a.Tenant
}
