package portal

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// Accounts is a power that a Muster may have: people look after their own account. A portal without it has no such pages.
type Accounts interface {
	newcomers
	// Sessions lists sign-ins; those of the actor where user is "".
	Sessions(ctx context.Context, a app.Actor, user string) ([]app.Session, error)
	RevokeSession(ctx context.Context, a app.Actor, user string, id int64) error
	// RevokeAllSessions ends all but the one that asks.
	RevokeAllSessions(ctx context.Context, a app.Actor, user string) (int, error)
	// ChangePassword is EUnauthorized where the old one does not fit, EInvalid where the new one will not do.
	ChangePassword(ctx context.Context, a app.Actor, old, wanted string) error
	// StepUp takes the second factor too, of accounts that have one.
	StepUp(ctx context.Context, a app.Actor, password string, f identity.FactorProof) error
	StepUpBy(ctx context.Context, a app.Actor, issuer, subject string) error
	ShowLink(ctx context.Context, a app.Actor, token string) (identity.IdentityLink, error)
	ConfirmLink(ctx context.Context, a app.Actor, token string) (identity.Identity, error)
	Identities(ctx context.Context, a app.Actor, user string) ([]identity.Identity, error)
	RemoveIdentity(ctx context.Context, a app.Actor, user, kind, external string) error
	SecondFactors
}

// keyDone is what a page says once about what was just done.
const keyDone = "done"

// accounts gives the use cases of accounts, or nil.
func (p *Portal) accounts() Accounts {
	m, _ := p.muster.(Accounts)
	return m
}

func (p *Portal) accountShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	ctx := r.Context()
	sessions, err := p.accounts().Sessions(ctx, a, "")
	if err != nil {
		return err
	}
	identities, err := p.accounts().Identities(ctx, a, "")
	if err != nil {
		return err
	}
	var factors identity.SecondFactors
	if p.cameBy(r) == "" {
		if factors, err = p.accounts().SecondFactors(ctx, a); err != nil {
			return err
		}
	}
	f := p.frame(r, "Your account")
	f.At = "account"
	in := identitypage.Account{Actor: a, Home: homeOf(a), Sessions: sessions, Identities: identities, Now: p.now(),
		Done: p.sessions.PopString(ctx, keyDone), Labels: p.labels(), Factors: factors}
	if at := p.provider(p.cameBy(r)); at != nil {
		in.Provider = at.Label()
	}
	if t := p.ownTokens(); t != nil {
		in.HasTokens = true
		if in.Tokens, err = t.Tokens(ctx, atHome(a), a.User); err != nil {
			return err
		}
	}
	p.render(w, r, http.StatusOK, identitypage.AccountPage(f, in))
	return nil
}

func (p *Portal) sessionRevoke(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err != nil {
		return &app.Error{Code: app.EInvalid, Field: "id", Message: "That is not the number of a sign-in."}
	}
	if err := p.accounts().RevokeSession(r.Context(), a, "", id); err != nil {
		return err
	}
	return p.accountDone(w, r, "The sign-in was ended.", "sign-ins")
}

func (p *Portal) sessionRevokeAll(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	n, err := p.accounts().RevokeAllSessions(r.Context(), a, "")
	if err != nil {
		return err
	}
	return p.accountDone(w, r, page.Count(n, "other sign-in")+" ended.", "sign-ins")
}

func (p *Portal) identityRemove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	if err := p.accounts().RemoveIdentity(r.Context(), a, "", r.PostForm.Get("kind"), r.PostForm.Get("external")); err != nil {
		return err
	}
	return p.accountDone(w, r, "It is not linked any more.", "identities")
}

// accountDone leads back to the account's page, which says once what was done.
func (p *Portal) accountDone(w http.ResponseWriter, r *http.Request, done, at string) error {
	p.sessions.Put(r.Context(), keyDone, done)
	http.Redirect(w, r, "/account#"+at, http.StatusSeeOther)
	return nil
}

func (p *Portal) passwordAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPassword(w, r, http.StatusOK, a, identitypage.Password{})
}

func (p *Portal) showPassword(w http.ResponseWriter, r *http.Request, status int, a app.Actor, in identitypage.Password) error {
	in.User, in.Must, in.Least = a.User, a.MustChange, identity.MinPassword
	f := p.frame(r, "Change your password")
	f.At = "account"
	p.render(w, r, status, identitypage.PasswordPage(f, in))
	return nil
}

func (p *Portal) passwordChange(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	again := func(status int, field, message, hint string) error {
		return p.showPassword(w, r, status, a, identitypage.Password{Field: field, Complaint: page.Complaint{Message: message, Hint: hint}})
	}
	old, wanted := r.PostForm.Get("old"), r.PostForm.Get("new")
	switch {
	case old == "":
		return again(http.StatusUnprocessableEntity, "old", "The password that you have is missing.", "")
	case wanted != r.PostForm.Get("again"):
		return again(http.StatusUnprocessableEntity, "again", "The two are not the same.", "")
	}
	wait, err := p.attempt(r, homeOf(a), a.User, func() error { return p.accounts().ChangePassword(r.Context(), a, old, wanted) })
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return again(http.StatusTooManyRequests, "old", "Too many attempts.", "Try again in "+page.Span(wait)+".")
	}
	if e := app.AsError(err); err != nil && (e.Field == "old" || e.Field == "new") {
		return again(statusOf(err), e.Field, e.Message, e.Hint)
	}
	if err != nil {
		return err
	}
	// A new right, a new token.
	if err := p.sessions.RenewToken(r.Context()); err != nil {
		return err
	}
	if a.MustChange {
		http.Redirect(w, r, cmp.Or(p.sessions.PopString(r.Context(), keyNext), "/"), http.StatusSeeOther)
		return nil
	}
	return p.accountDone(w, r, "Your password was changed. All your other sign-ins and all your API tokens were ended.", "sign-ins")
}
