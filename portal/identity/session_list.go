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

// ListSignIns shows admins the sessions of a user.
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
	f := p.AdminFrame(r, "Sessions of "+user)
	p.Render(w, r, http.StatusOK, UserSignInsPage(f, user, Account{Actor: a, Sessions: sessions, Identities: identities,
		Labels: providerLabels(p.Site), Now: p.Now(), Done: p.Sessions.PopString(r.Context(), site.KeyDone)}))
	return nil
}

// EndSignIn ends a session, or all.
func (p *users) EndSignIn(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	user, which := chi.URLParam(r, "user"), r.PostForm.Get("id")
	done := "Session signed out."
	if which == "all" {
		n, err := p.Accounts.RevokeAllSessions(r.Context(), a, user)
		if err != nil {
			return err
		}
		done = "Signed out of " + humanize.Count(n, "session") + "."
	} else {
		id, err := strconv.ParseInt(which, 10, 64)
		if err != nil {
			return &app.Error{Code: app.EInvalid, Field: "id", Message: "Invalid session ID."}
		}
		if err := p.Accounts.RevokeSession(r.Context(), a, user, id); err != nil {
			return err
		}
	}
	return p.done(w, r, user, done)
}

// RemoveIdentity unlinks an identity of a user.
func (p *users) RemoveIdentity(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	user := chi.URLParam(r, "user")
	if err := p.Accounts.RemoveIdentity(r.Context(), a, user, r.PostForm.Get("kind"), r.PostForm.Get("external")); err != nil {
		return err
	}
	return p.done(w, r, user, "Identity unlinked.")
}

func (p *users) done(w http.ResponseWriter, r *http.Request, user, done string) error {
	p.Sessions.Put(r.Context(), site.KeyDone, done)
	http.Redirect(w, r, "/admin/users/"+url.PathEscape(user)+"/sign-ins", http.StatusSeeOther)
	return nil
}

// providerLabels are the display names of identity providers and directories, by name.
func providerLabels(p *site.Site) map[string]string {
	all := map[string]string{}
	for _, e := range p.Elsewhere {
		all[e.Name()] = e.Label()
	}
	for _, d := range p.Directories {
		all[d.Name()] = d.Label()
	}
	return all
}
