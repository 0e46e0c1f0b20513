package identity

import (
	"cmp"
	"net/http"
	"strconv"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// accounts are the pages of one's own account: sessions, linked identities, password.
type accounts struct {
	*site.Site

	limiter *limiter
}

func (p *accounts) routes() []site.Route {
	return []site.Route{
		site.Show("/account", p.Show),
		site.Show("/account/password", p.AskPassword).For(site.Newcomers),
		site.Submit("/account/password", p.ChangePassword).For(site.Newcomers),
		site.Submit("/account/sign-ins/end", p.EndSignIn),
		site.Submit("/account/sign-ins/end-all", p.EndAllSignIns),
		site.Submit("/account/identities/remove", p.RemoveIdentity),
		site.Submit("/account/email", p.ChangeEmail),
		site.Submit("/account/email/resend", p.ResendEmail),
		site.Submit("/account/email/cancel", p.CancelEmail),
		site.Show("/account/email/confirm", p.AskEmail),
		site.Submit("/account/email/confirm", p.ConfirmEmail),
		site.Show("/link", p.AskLink),
		site.Submit("/link", p.ConfirmLink),
	}
}

func (p *accounts) operations() []site.Operation { return nil }

func (p *accounts) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, a, http.StatusOK, EmailForm{})
}

func (p *accounts) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, email EmailForm) (err error) {
	ctx := r.Context()
	if email.OwnEmail, err = p.Emails.OwnEmail(ctx, a); err != nil {
		return err
	}
	sessions, err := p.Accounts.Sessions(ctx, a, "")
	if err != nil {
		return err
	}
	identities, err := p.Accounts.Identities(ctx, a, "")
	if err != nil {
		return err
	}
	var factors identity.SecondFactors
	if cameBy(p.Site, r) == "" {
		if factors, err = p.Factors.SecondFactors(ctx, a); err != nil {
			return err
		}
	}
	f := p.Frame(r, "Your account")
	f.At = "account"
	in := Account{Actor: a, Home: homeOf(a), Email: email, Sessions: sessions, Identities: identities, Now: p.Now(),
		Done: p.Sessions.PopString(ctx, site.KeyDone), Labels: providerLabels(p.Site), Factors: factors}
	by := cameBy(p.Site, r)
	in.Provider = cmp.Or(in.Labels[by], by)
	if in.Tokens, err = p.Tokens.Tokens(ctx, atHome(a), a.User); err != nil {
		return err
	}
	p.Render(w, r, status, AccountPage(f, in))
	return nil
}

func (p *accounts) EndSignIn(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err != nil {
		return &app.Error{Code: app.EInvalid, Field: "id", Message: "Invalid session ID."}
	}
	if err := p.Accounts.RevokeSession(r.Context(), a, "", id); err != nil {
		return err
	}
	return accountDone(p.Site, w, r, "Session signed out.", "sign-ins")
}

func (p *accounts) EndAllSignIns(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	n, err := p.Accounts.RevokeAllSessions(r.Context(), a, "")
	if err != nil {
		return err
	}
	return accountDone(p.Site, w, r, "Signed out of "+humanize.Count(n, "other session")+".", "sign-ins")
}

func (p *accounts) RemoveIdentity(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Accounts.RemoveIdentity(r.Context(), a, "", r.PostForm.Get("kind"), r.PostForm.Get("external")); err != nil {
		return err
	}
	return accountDone(p.Site, w, r, "Identity unlinked.", "identities")
}

// accountDone redirects to the account's page, which shows once what was done.
func accountDone(p *site.Site, w http.ResponseWriter, r *http.Request, done, at string) error {
	p.Sessions.Put(r.Context(), site.KeyDone, done)
	http.Redirect(w, r, "/account#"+at, http.StatusSeeOther)
	return nil
}

func (p *accounts) AskPassword(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPassword(w, r, http.StatusOK, a, Password{})
}

func (p *accounts) showPassword(w http.ResponseWriter, r *http.Request, status int, a app.Actor, in Password) error {
	in.User, in.Must, in.Least = a.User, a.MustChange, identity.MinPassword
	f := p.Frame(r, "Change password")
	f.At = "account"
	p.Render(w, r, status, PasswordPage(f, in))
	return nil
}

func (p *accounts) ChangePassword(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	again := func(status int, field, message, hint string) error {
		return p.showPassword(w, r, status, a, Password{Field: field, Complaint: page.Complaint{Message: message, Hint: hint}})
	}
	old, wanted := r.PostForm.Get("old"), r.PostForm.Get("new")
	switch {
	case old == "":
		return again(http.StatusUnprocessableEntity, "old", "Enter your current password.", "")
	case wanted != r.PostForm.Get("again"):
		return again(http.StatusUnprocessableEntity, "again", "The passwords don't match.", "")
	}
	wait, err := p.limiter.attempt(r, homeOf(a), a.User, func() error { return p.Accounts.ChangePassword(r.Context(), a, old, wanted) })
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return again(http.StatusTooManyRequests, "old", "Too many attempts.", "Try again in "+humanize.Duration(wait)+".")
	}
	if e := app.AsError(err); err != nil && (e.Field == "old" || e.Field == "new") {
		return again(site.StatusOf(err), e.Field, e.Message, e.Hint)
	}
	if err != nil {
		return err
	}
	// A change of rights renews the token, against session fixation.
	if err := p.Sessions.RenewToken(r.Context()); err != nil {
		return err
	}
	if a.MustChange {
		http.Redirect(w, r, cmp.Or(p.Sessions.PopString(r.Context(), site.KeyNext), "/"), http.StatusSeeOther)
		return nil
	}
	return accountDone(p.Site, w, r, "Password changed. You're signed out everywhere else and your API tokens are revoked.", "sign-ins")
}
