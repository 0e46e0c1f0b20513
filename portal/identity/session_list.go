package identity

import (
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
	"muster/app/humanize"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// ListSignIns shows admins where a user is signed in.
func (p *users) ListSignIns(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	user := chi.URLParam(r, "user")
	sessions, err := p.Accounts.Sessions(r.Context(), a, user)
	if err != nil {
		return err
	}
	identities, err := p.Accounts.Identities(r.Context(), a, user)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Sign-ins of "+user)
	p.Render(w, r, http.StatusOK, UserSignInsPage(f, user, Account{Actor: a, Sessions: sessions, Identities: identities,
		Labels: providerLabels(p.Site), Now: p.Now(), Done: p.Sessions.PopString(r.Context(), site.KeyDone)}))
	return nil
}

// EndSignIn ends one of them, or all.
func (p *users) EndSignIn(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	user, which := chi.URLParam(r, "user"), r.PostForm.Get("id")
	done := "The sign-in was ended."
	if which == "all" {
		n, err := p.Accounts.RevokeAllSessions(r.Context(), a, user)
		if err != nil {
			return err
		}
		done = humanize.Count(n, "sign-in") + " ended."
	} else {
		id, err := strconv.ParseInt(which, 10, 64)
		if err != nil {
			return &app.Error{Code: app.EInvalid, Field: "id", Message: "That is not the number of a sign-in."}
		}
		if err := p.Accounts.RevokeSession(r.Context(), a, user, id); err != nil {
			return err
		}
	}
	return p.done(w, r, user, done)
}

// RemoveIdentity unties who a user is elsewhere.
func (p *users) RemoveIdentity(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	user := chi.URLParam(r, "user")
	if err := p.Accounts.RemoveIdentity(r.Context(), a, user, r.PostForm.Get("kind"), r.PostForm.Get("external")); err != nil {
		return err
	}
	return p.done(w, r, user, "It is not linked any more.")
}

func (p *users) done(w http.ResponseWriter, r *http.Request, user, done string) error {
	p.Sessions.Put(r.Context(), site.KeyDone, done)
	http.Redirect(w, r, "/admin/users/"+url.PathEscape(user)+"/sign-ins", http.StatusSeeOther)
	return nil
}

// providerLabels are the names of identity providers for people, by their names in addresses.
func providerLabels(p *site.Site) map[string]string {
	all := map[string]string{}
	for _, e := range p.Elsewhere {
		all[e.Name()] = e.Label()
	}
	return all
}
