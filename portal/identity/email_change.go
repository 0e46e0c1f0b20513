package identity

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// EmailForm is the part of the account's page that changes the address.
type EmailForm struct {
	identity.OwnEmail
	Entered   string // an address that wasn't accepted
	Complaint page.Complaint
}

// button says what entering an address does.
func (e EmailForm) button() string {
	if e.Address == "" {
		return "Add address"
	}
	return "Change address"
}

// state says how far the newest email is.
func (e EmailForm) state(now time.Time) string {
	ends := "The link is valid for " + humanize.Duration(e.Pending.ExpiresAt.Sub(now)) + "."
	switch {
	case e.Pending.Sent:
		return "Open the link in the email that Muster sent to it. " + ends
	case e.Pending.Problem != "":
		return "The email couldn't be sent yet. " + e.Pending.Problem
	}
	return "Muster is sending an email with a link to it. " + ends
}

// from is the label of the provider that an account's address comes from.
func (a Account) from() string { return cmp.Or(a.Labels[a.Email.Provider], a.Email.Provider) }

// EmailLink is the page on which people confirm an address.
type EmailLink struct{ Address, Token string }

// again shows the account's page with what is wrong with an address.
func (p *accounts) again(w http.ResponseWriter, r *http.Request, a app.Actor, entered string, err error) error {
	e := app.AsError(err)
	if e.Field != "email" {
		return err
	}
	return p.show(w, r, a, site.StatusOf(err), EmailForm{Entered: entered, Complaint: page.Complaint{Message: e.Message, Hint: e.Hint}})
}

func (p *accounts) ChangeEmail(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	address := strings.TrimSpace(r.PostForm.Get("email"))
	if err := p.Emails.ChangeEmail(r.Context(), a, address); err != nil {
		return p.again(w, r, a, humanize.CutText(address, 254), err)
	}
	return accountDone(p.Site, w, r, "Open the link in the email to "+address+" to confirm the address.", "email")
}

func (p *accounts) ResendEmail(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Emails.ResendEmail(r.Context(), a); err != nil {
		return p.again(w, r, a, "", err)
	}
	return accountDone(p.Site, w, r, "Another email is on its way. The link in the earlier one no longer works.", "email")
}

func (p *accounts) CancelEmail(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Emails.CancelEmailChange(r.Context(), a); err != nil {
		return p.again(w, r, a, "", err)
	}
	return accountDone(p.Site, w, r, "Change of your email address canceled.", "email")
}

// AskEmail shows the address to confirm. It changes nothing: mail servers and browsers open links by themselves.
func (p *accounts) AskEmail(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	token := r.URL.Query().Get("token")
	address, err := p.Emails.ShowEmailChange(r.Context(), a, token)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, EmailLinkPage(p.Frame(r, "Confirm email address"), EmailLink{Address: address, Token: token}))
	return nil
}

func (p *accounts) ConfirmEmail(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	address, err := p.Emails.ConfirmEmail(r.Context(), a, r.PostForm.Get("token"))
	if err != nil {
		return err
	}
	return accountDone(p.Site, w, r, address+" is now your email address.", "email")
}
