package identity

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Limits on a redirect to an identity provider: its time, and how many at once, as with several windows.
const (
	AwayTime   = 10 * time.Minute
	maxPending = 5
)

// away is a sign-in that was redirected to an identity provider.
type away struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Secret   string    `json:"c"`
	Next     string    `json:"n"`
	StepUp   bool      `json:"u,omitempty"`
	At       time.Time `json:"a"`
}

// choosing is a sign-in that waits for the choice of a tenant.
type choosing struct {
	Subject identity.Subject `json:"s"`
	Next    string           `json:"n"`
	At      time.Time        `json:"a"`
}

const keyChoosing = "choosing"

var errNotAway = &app.Error{Code: app.EUnauthorized, Reason: "state",
	Message: "This sign-in has expired, was already used, or started in another browser.", Hint: "Sign in again."}

// providerNamed returns an identity provider by its name, or nil.
func providerNamed(p *site.Site, name string) site.IdentityProvider {
	for _, e := range p.Elsewhere {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// cameBy returns the identity provider or directory of a session; "" for a password in Muster.
func cameBy(p *site.Site, r *http.Request) string {
	return p.Sessions.GetString(r.Context(), site.KeyBy)
}

// providers sign people in, and re-authenticate them, at an identity provider.
type providers struct {
	*site.Site

	attempts *attempts
	stepUps  *stepUps
}

func (p *providers) routes() []site.Route {
	return []site.Route{
		site.ShowAll("/signin/{provider}", p.Start),
		site.ShowAll("/signin/{provider}/callback", p.Return),
		site.ShowAll("/signin/{provider}/leave", p.Leave),
		site.ShowAll("/signin/tenant", p.AskTenant),
		site.SubmitAll("/signin/tenant", p.ChooseTenant),
		site.Show("/step-up/{provider}", p.StepUp),
	}
}

func (p *providers) operations() []site.Operation { return nil }

func (p *providers) Start(w http.ResponseWriter, r *http.Request) error {
	return p.sendAway(w, r, false)
}

// sendAway sends the browser to an identity provider.
func (p *providers) sendAway(w http.ResponseWriter, r *http.Request, stepUp bool) error {
	to := providerNamed(p.Site, chi.URLParam(r, "provider"))
	if to == nil {
		return site.ErrNoSuchPage
	}
	if wait := p.attempts.Leave(site.Address(r)); wait > 0 {
		return &app.Error{Code: app.ERateLimit, Message: "Too many sign-ins from your address.", Hint: "Try again in " + humanize.Duration(wait) + ".", RetryAfter: wait}
	}
	next := site.Local(r.URL.Query().Get("next"))
	address, state, secret, err := to.Start(r.Context(), stepUp)
	if err != nil {
		return signInTrouble(p.Site, w, r, next, err)
	}
	all := append(p.away(r), away{Provider: to.Name(), State: state, Secret: secret, Next: next, StepUp: stepUp, At: p.Now()})
	p.putAway(r, all[max(0, len(all)-maxPending):])
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// away returns this browser's redirected sign-ins that haven't expired.
func (p *providers) away(r *http.Request) []away {
	var all []away
	if json.Unmarshal([]byte(p.Sessions.GetString(r.Context(), site.KeyAway)), &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(a away) bool { return p.Now().Sub(a.At) > AwayTime })
}

func (p *providers) putAway(r *http.Request, all []away) {
	b, err := json.Marshal(all)
	if err != nil || len(all) == 0 {
		p.Sessions.Remove(r.Context(), site.KeyAway)
		return
	}
	p.Sessions.Put(r.Context(), site.KeyAway, string(b))
	if p.SignInOf(r) == 0 {
		// A session without a user needn't be kept longer.
		p.Sessions.SetDeadline(r.Context(), time.Now().Add(2*AwayTime))
	}
}

// back finds and removes the redirected sign-in of an answer, so that an answer works once.
func (p *providers) back(r *http.Request, provider, state string) (away, bool) {
	all := p.away(r)
	at := slices.IndexFunc(all, func(a away) bool {
		return a.Provider == provider && subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) == 1
	})
	if at < 0 {
		return away{}, false
	}
	found := all[at]
	p.putAway(r, slices.Delete(all, at, at+1))
	return found, true
}

// Return finishes a sign-in at an identity provider.
func (p *providers) Return(w http.ResponseWriter, r *http.Request) error {
	from := providerNamed(p.Site, chi.URLParam(r, "provider"))
	if from == nil {
		return site.ErrNoSuchPage
	}
	answer := r.URL.Query()
	was, ok := p.back(r, from.Name(), answer.Get("state"))
	if !ok {
		return signInTrouble(p.Site, w, r, "/", errNotAway)
	}
	s, err := from.Finish(r.Context(), was.Secret, answer)
	if err != nil {
		return signInTrouble(p.Site, w, r, was.Next, err)
	}
	if was.StepUp {
		return p.stepUps.steppedUp(w, r, s, was.Next)
	}
	return p.admit(w, r, s, "", was.Next)
}

// admit signs in an authenticated subject, or asks for a tenant.
func (p *providers) admit(w http.ResponseWriter, r *http.Request, s identity.Subject, tenant, next string) error {
	begun, err := p.SignIns.SignInBy(r.Context(), s, tenant, site.VisitOf(r))
	if e := app.AsError(err); err != nil && e.Reason == "choose_tenant" {
		if err := p.Sessions.RenewToken(r.Context()); err != nil {
			return err
		}
		b, err := json.Marshal(choosing{Subject: s, Next: next, At: p.Now()})
		if err != nil {
			return err
		}
		p.Sessions.Put(r.Context(), keyChoosing, string(b))
		http.Redirect(w, r, "/signin/tenant", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return signInTrouble(p.Site, w, r, next, err)
	}
	if err := replaceSession(p.Site, r, begun); err != nil {
		return err
	}
	p.Sessions.Put(r.Context(), site.KeyBy, s.Provider)
	p.Sessions.Put(r.Context(), site.KeyLogin, s.Login)
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// chooses returns this browser's sign-in that waits for the choice of a tenant.
func (p *providers) chooses(r *http.Request) (choosing, bool) {
	var c choosing
	err := json.Unmarshal([]byte(p.Sessions.GetString(r.Context(), keyChoosing)), &c)
	return c, err == nil && p.Now().Sub(c.At) <= AwayTime
}

func (p *providers) AskTenant(w http.ResponseWriter, r *http.Request) error {
	c, ok := p.chooses(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	p.Render(w, r, http.StatusOK, ChooseTenantPage(p.Frame(r, "Choose a tenant"), c.Subject))
	return nil
}

func (p *providers) ChooseTenant(w http.ResponseWriter, r *http.Request) error {
	if err := site.Form(r); err != nil {
		return err
	}
	c, ok := p.chooses(r)
	p.Sessions.Remove(r.Context(), keyChoosing)
	if !ok {
		return signInTrouble(p.Site, w, r, "/", errNotAway)
	}
	return p.admit(w, r, c.Subject, r.PostForm.Get("tenant"), site.Local(c.Next))
}

// Leave redirects to the sign-out page of an identity provider.
func (p *providers) Leave(w http.ResponseWriter, r *http.Request) error {
	from := providerNamed(p.Site, chi.URLParam(r, "provider"))
	if from == nil {
		return site.ErrNoSuchPage
	}
	to := from.Leave(r.Context())
	if to == "" {
		return &app.Error{Code: app.ENotFound, Message: from.Label() + " has no sign-out address.", Hint: "Sign out on its own website."}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// signInTrouble shows on the sign-in page why sign-in failed. Internal errors are only logged.
func signInTrouble(p *site.Site, w http.ResponseWriter, r *http.Request, next string, err error) error {
	if _, here := p.Actor(r); here {
		return err // signed-in users don't see the sign-in page
	}
	e, a := site.Known(err)
	if e.Code == app.EInternal {
		return err
	}
	p.Log.InfoContext(r.Context(), "sign-in failed", "error", err, "reason", e.Reason, "from", site.Address(r), "request", site.RequestOf(r.Context()).Id)
	showSignIn(p, w, r, a.Status, SignIn{Next: next, Trouble: page.Complaint{Message: e.Message, Hint: e.Hint}})
	return nil
}
