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

// How long someone may be away at an identity provider, and how many times at once, as with several windows.
const (
	AwayTime = 10 * time.Minute
	mostAway = 5
)

// away is someone who was sent to an identity provider.
type away struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Secret   string    `json:"c"`
	Next     string    `json:"n"`
	StepUp   bool      `json:"u,omitempty"`
	At       time.Time `json:"a"`
}

// choosing is someone who has proved who they are, and has still to say which tenant it shall be.
type choosing struct {
	Subject identity.Subject `json:"s"`
	Next    string           `json:"n"`
	At      time.Time        `json:"a"`
}

const keyChoosing = "choosing"

var errNotAway = &app.Error{Code: app.EUnauthorized, Reason: "state",
	Message: "This sign-in was not begun in this browser, was used already, or took too long.", Hint: "Begin again."}

// providerNamed returns an identity provider by its name, or nil.
func providerNamed(p *site.Site, name string) site.IdentityProvider {
	for _, e := range p.Elsewhere {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// cameBy returns the identity provider that a session began with; "" for a password.
func cameBy(p *site.Site, r *http.Request) string {
	return p.Sessions.GetString(r.Context(), site.KeyBy)
}

// providers sign people in, and have them prove who they are again, at an identity provider.
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
		return &app.Error{Code: app.ERateLimit, Message: "Too many sign-ins were begun from your address.", Hint: "Try again in " + humanize.Duration(wait) + ".", RetryAfter: wait}
	}
	next := site.Local(r.URL.Query().Get("next"))
	address, state, secret, err := to.Start(r.Context(), stepUp)
	if err != nil {
		return signInTrouble(p.Site, w, r, next, err)
	}
	all := append(p.away(r), away{Provider: to.Name(), State: state, Secret: secret, Next: next, StepUp: stepUp, At: p.Now()})
	p.putAway(r, all[max(0, len(all)-mostAway):])
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// away returns those of this browser who are away and may come back yet.
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
		// A session of no one need not be kept for longer.
		p.Sessions.SetDeadline(r.Context(), time.Now().Add(2*AwayTime))
	}
}

// back finds who it is that comes back, and forgets them, so that an answer counts once.
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

// Return takes someone in who comes back from an identity provider.
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

// admit signs in who has proved who they are, or asks which tenant it shall be.
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
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// chooses returns who has still to choose a tenant in this browser.
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

// Leave sends someone who has signed out here to sign out there too.
func (p *providers) Leave(w http.ResponseWriter, r *http.Request) error {
	from := providerNamed(p.Site, chi.URLParam(r, "provider"))
	if from == nil {
		return site.ErrNoSuchPage
	}
	to := from.Leave(r.Context())
	if to == "" {
		return &app.Error{Code: app.ENotFound, Message: from.Label() + " does not tell how to sign out there.", Hint: "Do it on a page of its own."}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// signInTrouble says on the page where people sign in why it did not work. What is no one's business is logged only.
func signInTrouble(p *site.Site, w http.ResponseWriter, r *http.Request, next string, err error) error {
	if _, here := p.Actor(r); here {
		return err // there is no such page for who has signed in
	}
	e, a := site.Known(err)
	if e.Code == app.EInternal {
		return err
	}
	p.Log.InfoContext(r.Context(), "a sign-in did not work", "error", err, "reason", e.Reason, "from", site.Address(r), "request", site.RequestOf(r.Context()).Id)
	showSignIn(p, w, r, a.Status, SignIn{Next: next, Trouble: page.Complaint{Message: e.Message, Hint: e.Hint}})
	return nil
}
