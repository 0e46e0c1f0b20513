package portal

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// IdentityProvider is a place elsewhere where people prove who they are. Errors are *app.Error, in words for the person.
type IdentityProvider interface {
	// Name stands in addresses, Label on buttons.
	Name() string
	Label() string
	// Start gives where to send the browser, the state by which its return is known, and what Finish needs to check the answer,
	// which is kept for nobody but us. Again asks that the person proves anew who they are.
	Start(ctx context.Context, again bool) (to, state, secret string, err error)
	// Finish checks the answer that the browser has brought, and says who it was.
	Finish(ctx context.Context, secret string, answer url.Values) (identity.Subject, error)
	// Leave gives where to send the browser so that the person is signed out there too; "" where that is not possible.
	Leave(ctx context.Context) string
}

// newcomers are the use cases of people who come by an identity provider.
type newcomers interface {
	SignInBy(ctx context.Context, s identity.Subject, tenant string, v app.Visit) (app.Session, error)
}

// How long somebody may be away at an identity provider, and how many times at once, as with several windows.
const (
	awayTime = 10 * time.Minute
	mostAway = 5
)

// away is somebody who was sent to an identity provider.
type away struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Secret   string    `json:"c"`
	Next     string    `json:"n"`
	StepUp   bool      `json:"u,omitempty"`
	At       time.Time `json:"a"`
}

// choosing is somebody who has proved who they are, and has still to say which tenant it shall be.
type choosing struct {
	Subject identity.Subject `json:"s"`
	Next    string           `json:"n"`
	At      time.Time        `json:"a"`
}

const keyChoosing = "choosing"

var errNotAway = &app.Error{Code: app.EUnauthorized, Reason: "state",
	Message: "This sign-in was not begun in this browser, was used already, or took too long.", Hint: "Begin again."}

// provider gives an identity provider by its name, or nil.
func (p *Portal) provider(name string) IdentityProvider {
	for _, e := range p.elsewhere {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// cameBy gives the identity provider that a session began with; "" for a password.
func (p *Portal) cameBy(r *http.Request) string { return p.sessions.GetString(r.Context(), keyBy) }

func (p *Portal) providerStart(w http.ResponseWriter, r *http.Request) error {
	return p.sendAway(w, r, false)
}

// sendAway sends the browser to an identity provider.
func (p *Portal) sendAway(w http.ResponseWriter, r *http.Request, stepUp bool) error {
	to := p.provider(chi.URLParam(r, "provider"))
	if to == nil {
		return errNoSuchPage
	}
	if wait := p.attempts.leave(address(r)); wait > 0 {
		return &app.Error{Code: app.ERateLimit, Message: "Too many sign-ins were begun from your address.", Hint: "Try again in " + page.Span(wait) + ".", RetryAfter: wait}
	}
	next := local(r.URL.Query().Get("next"))
	address, state, secret, err := to.Start(r.Context(), stepUp)
	if err != nil {
		return p.signInTrouble(w, r, next, err)
	}
	all := append(p.away(r), away{Provider: to.Name(), State: state, Secret: secret, Next: next, StepUp: stepUp, At: p.now()})
	p.putAway(r, all[max(0, len(all)-mostAway):])
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// away gives those of this browser who are away and may come back yet.
func (p *Portal) away(r *http.Request) []away {
	var all []away
	if json.Unmarshal([]byte(p.sessions.GetString(r.Context(), keyAway)), &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(a away) bool { return p.now().Sub(a.At) > awayTime })
}

func (p *Portal) putAway(r *http.Request, all []away) {
	b, err := json.Marshal(all)
	if err != nil || len(all) == 0 {
		p.sessions.Remove(r.Context(), keyAway)
		return
	}
	p.sessions.Put(r.Context(), keyAway, string(b))
	if p.signInOf(r) == 0 {
		// A session of nobody need not be kept for longer.
		p.sessions.SetDeadline(r.Context(), time.Now().Add(2*awayTime))
	}
}

// back finds who it is that comes back, and forgets them, so that an answer counts once.
func (p *Portal) back(r *http.Request, provider, state string) (away, bool) {
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

// providerBack takes somebody in who comes back from an identity provider.
func (p *Portal) providerBack(w http.ResponseWriter, r *http.Request) error {
	from := p.provider(chi.URLParam(r, "provider"))
	if from == nil {
		return errNoSuchPage
	}
	answer := r.URL.Query()
	was, ok := p.back(r, from.Name(), answer.Get("state"))
	if !ok {
		return p.signInTrouble(w, r, "/", errNotAway)
	}
	s, err := from.Finish(r.Context(), was.Secret, answer)
	if err != nil {
		return p.signInTrouble(w, r, was.Next, err)
	}
	if was.StepUp {
		return p.steppedUp(w, r, s, was.Next)
	}
	return p.admit(w, r, s, "", was.Next)
}

// admit signs in who has proved who they are, or asks which tenant it shall be.
func (p *Portal) admit(w http.ResponseWriter, r *http.Request, s identity.Subject, tenant, next string) error {
	muster, ok := p.muster.(newcomers)
	if !ok {
		return errNoSuchPage
	}
	begun, err := muster.SignInBy(r.Context(), s, tenant, visitOf(r))
	if e := app.AsError(err); err != nil && e.Reason == "choose_tenant" {
		if err := p.sessions.RenewToken(r.Context()); err != nil {
			return err
		}
		b, err := json.Marshal(choosing{Subject: s, Next: next, At: p.now()})
		if err != nil {
			return err
		}
		p.sessions.Put(r.Context(), keyChoosing, string(b))
		http.Redirect(w, r, "/signin/tenant", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return p.signInTrouble(w, r, next, err)
	}
	if err := p.replace(r, begun); err != nil {
		return err
	}
	p.sessions.Put(r.Context(), keyBy, s.Provider)
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// chooses gives who has still to choose a tenant in this browser.
func (p *Portal) chooses(r *http.Request) (choosing, bool) {
	var c choosing
	err := json.Unmarshal([]byte(p.sessions.GetString(r.Context(), keyChoosing)), &c)
	return c, err == nil && p.now().Sub(c.At) <= awayTime
}

func (p *Portal) tenantAsk(w http.ResponseWriter, r *http.Request) error {
	c, ok := p.chooses(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	p.render(w, r, http.StatusOK, identitypage.ChooseTenantPage(p.frame(r, "Choose a tenant"), c.Subject))
	return nil
}

func (p *Portal) tenantChoose(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return err
	}
	c, ok := p.chooses(r)
	p.sessions.Remove(r.Context(), keyChoosing)
	if !ok {
		return p.signInTrouble(w, r, "/", errNotAway)
	}
	return p.admit(w, r, c.Subject, r.PostForm.Get("tenant"), local(c.Next))
}

// providerLeave sends somebody who has signed out here to sign out there too.
func (p *Portal) providerLeave(w http.ResponseWriter, r *http.Request) error {
	from := p.provider(chi.URLParam(r, "provider"))
	if from == nil {
		return errNoSuchPage
	}
	to := from.Leave(r.Context())
	if to == "" {
		return &app.Error{Code: app.ENotFound, Message: from.Label() + " does not tell how to sign out there.", Hint: "Do it on a page of its own."}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// signInTrouble says on the page where people sign in why it did not work. What is nobody's business is logged only.
func (p *Portal) signInTrouble(w http.ResponseWriter, r *http.Request, next string, err error) error {
	if _, here := p.actor(r); here {
		return err // there is no such page for who has signed in
	}
	e, a := known(err)
	if e.Code == app.EInternal {
		return err
	}
	p.log.InfoContext(r.Context(), "a sign-in did not work", "error", err, "reason", e.Reason, "from", address(r), "request", requestOf(r.Context()).id)
	p.showSignIn(w, r, a.status, identitypage.SignIn{Next: next, Trouble: page.Complaint{Message: e.Message, Hint: e.Hint}})
	return nil
}
