package portal

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"muster/app"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// userSignIns shows admins where a user is signed in.
func (p *Portal) userSignIns(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	user := chi.URLParam(r, "user")
	sessions, err := p.accounts().Sessions(r.Context(), a, user)
	if err != nil {
		return err
	}
	identities, err := p.accounts().Identities(r.Context(), a, user)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Sign-ins of "+user)
	p.render(w, r, http.StatusOK, identitypage.UserSignInsPage(f, user, identitypage.Account{Actor: a, Sessions: sessions, Identities: identities, Labels: p.labels(), Now: p.now(),
		Done: p.sessions.PopString(r.Context(), keyDone)}))
	return nil
}

// userSignInEnd ends one of them, or all.
func (p *Portal) userSignInEnd(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	user, which := chi.URLParam(r, "user"), r.PostForm.Get("id")
	done := "The sign-in was ended."
	if which == "all" {
		n, err := p.accounts().RevokeAllSessions(r.Context(), a, user)
		if err != nil {
			return err
		}
		done = page.Count(n, "sign-in") + " ended."
	} else {
		id, err := strconv.ParseInt(which, 10, 64)
		if err != nil {
			return &app.Error{Code: app.EInvalid, Field: "id", Message: "That is not the number of a sign-in."}
		}
		if err := p.accounts().RevokeSession(r.Context(), a, user, id); err != nil {
			return err
		}
	}
	return p.userDone(w, r, user, done)
}

// userIdentityRemove unties who a user is elsewhere.
func (p *Portal) userIdentityRemove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	user := chi.URLParam(r, "user")
	if err := p.accounts().RemoveIdentity(r.Context(), a, user, r.PostForm.Get("kind"), r.PostForm.Get("external")); err != nil {
		return err
	}
	return p.userDone(w, r, user, "It is not linked any more.")
}

func (p *Portal) userDone(w http.ResponseWriter, r *http.Request, user, done string) error {
	p.sessions.Put(r.Context(), keyDone, done)
	http.Redirect(w, r, "/admin/users/"+url.PathEscape(user)+"/sign-ins", http.StatusSeeOther)
	return nil
}

// labels are the names of identity providers for people, by their names in addresses.
func (p *Portal) labels() map[string]string {
	all := map[string]string{}
	for _, e := range p.elsewhere {
		all[e.Name()] = e.Label()
	}
	return all
}
