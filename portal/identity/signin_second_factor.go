package identity

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// pending is a sign-in with the right password that waits for the second factor. It is kept in the session on the server and grants no
// access.
type pending struct {
	Tenant, User, Mark, Next string
	At                       time.Time
}

func (s pending) session() identity.Session {
	return identity.Session{Tenant: s.Tenant, User: s.User, Mark: s.Mark, At: s.At}
}

// askSecondFactor keeps a sign-in until the second factor is entered, and redirects to that page. Each step of a sign-in renews the
// session's token.
func (p *passwordSignIn) askSecondFactor(w http.ResponseWriter, r *http.Request, s identity.Session, next string) error {
	if err := p.Sessions.RenewToken(r.Context()); err != nil {
		return err
	}
	b, err := json.Marshal(pending{Tenant: s.Tenant, User: s.User, Mark: s.Mark, At: s.At, Next: next})
	if err != nil {
		return err
	}
	p.Sessions.Put(r.Context(), site.KeyPending, b)
	http.Redirect(w, r, PendingPath, http.StatusSeeOther)
	return nil
}

// pendingIn returns the pending sign-in of a browser.
func (p *passwordSignIn) pendingIn(r *http.Request) (s pending, ok bool) {
	b := p.Sessions.GetBytes(r.Context(), site.KeyPending)
	return s, len(b) > 0 && json.Unmarshal(b, &s) == nil
}

func (p *passwordSignIn) PendingShow(w http.ResponseWriter, r *http.Request) error {
	return p.showPending(w, r, http.StatusOK, nil)
}

// showPending asks for the second factor, or for the password again if that was too long ago.
func (p *passwordSignIn) showPending(w http.ResponseWriter, r *http.Request, status int, wrong *page.Complaint) error {
	s, ok := p.pendingIn(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	have, err := p.SignIns.PendingFactors(r.Context(), s.session())
	if err != nil {
		return p.pendingOver(w, r, s, err)
	}
	in := Pending{User: s.User}
	if in.Factor, err = askFactor(p.Site, r, s.Tenant, s.User, have); err != nil {
		return err
	}
	if wrong != nil {
		in.Complaint = *wrong
	}
	f := p.Frame(r, "Second factor")
	f.Actor, f.Scripts = nil, keyScripts(in.Factor.Options)
	p.Render(w, r, status, PendingPage(f, in))
	return nil
}

// pendingOver redirects to the sign-in page if the password must be entered again.
func (p *passwordSignIn) pendingOver(w http.ResponseWriter, r *http.Request, s pending, err error) error {
	e := app.AsError(err)
	if e.Code != app.EUnauthorized || e.Reason == "wrong_code" {
		return err
	}
	p.Sessions.Remove(r.Context(), site.KeyPending)
	p.Sessions.Put(r.Context(), site.KeyWhy, e.Message)
	http.Redirect(w, r, "/signin?next="+url.QueryEscape(s.Next), http.StatusSeeOther)
	return nil
}

func (p *passwordSignIn) PendingFinish(w http.ResponseWriter, r *http.Request) error {
	if err := site.Form(r); err != nil {
		return err
	}
	s, ok := p.pendingIn(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	var begun identity.Session
	wait, err := p.limiter.attempt(r, s.Tenant, s.User, func() (err error) {
		begun, err = p.SignIns.FinishSignIn(r.Context(), s.session(), proofOf(p.Site, r, s.Tenant, s.User), site.VisitOf(r))
		return err
	})
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return p.showPending(w, r, http.StatusTooManyRequests, &page.Complaint{Message: "Too many attempts.", Hint: "Try again in " + humanize.Duration(wait) + "."})
	}
	if e := app.AsError(err); err != nil && e.Field == "code" {
		return p.showPending(w, r, site.StatusOf(err), &page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return p.pendingOver(w, r, s, err)
	}
	if err := replaceSession(p.Site, r, begun); err != nil {
		return err
	}
	http.Redirect(w, r, cmp.Or(s.Next, "/"), http.StatusSeeOther)
	return nil
}
