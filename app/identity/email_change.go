package identity

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// EmailStore keeps the addresses that people have entered for their own account, and the emails about them. Each method is one transaction.
type EmailStore interface {
	// OwnEmail returns an account's address, and the one that waits for its confirmation.
	OwnEmail(ctx context.Context, tenant, user string, now time.Time) (OwnEmail, error)
	// StartEmailChange keeps an address as the one to confirm, in place of any other, and queues an email to it. It asks OwnEmail.MayChange and
	// EmailCount.Check first. With address "", the email for the one that waits is sent again; EConflict if none does.
	StartEmailChange(ctx context.Context, who app.Actor, address string, now time.Time) error
	// CancelEmailChange forgets the address to confirm; EConflict if there is none.
	CancelEmailChange(ctx context.Context, who app.Actor, now time.Time) error
	// EmailChange returns the address to confirm; false for none.
	EmailChange(ctx context.Context, tenant, user string) (EmailChange, bool, error)
	// ConfirmEmailChange makes the address the account's if EmailChange.Fits says so, and queues a notice to the old one.
	ConfirmEmailChange(ctx context.Context, who app.Actor, hash []byte, now time.Time) (address string, err error)
}

// EmailsConfig is what Emails is created from.
type EmailsConfig struct {
	Store EmailStore
	Now   func() time.Time
}

// Emails let people change the email address of their own account. An address counts once its reader has opened the link in an email to it.
type Emails struct{ EmailsConfig }

// NewEmails returns them on top of what c holds.
func NewEmails(c EmailsConfig) *Emails { return &Emails{EmailsConfig: c} }

// Limits of changing an address.
const (
	// EmailLinkLife is how long the link in an email can be used.
	EmailLinkLife = 24 * time.Hour
	// EmailLimitTime is the time in which a person requests at most MostPersonEmails, and an address gets at most MostAddressEmails.
	EmailLimitTime    = time.Hour
	MostPersonEmails  = 5
	MostAddressEmails = 3
)

// EmailChange is an address that waits for its confirmation.
type EmailChange struct {
	Address     string
	RequestedAt time.Time
	ExpiresAt   time.Time
	// Sent says that the newest email was handed to the mail server, and Problem why it wasn't.
	Sent    bool
	Problem string
	// Hash is that of the token in the newest email's link.
	Hash []byte
}

// OwnEmail is the address of an account.
type OwnEmail struct {
	Address string // "": none
	// Provider is the identity provider or directory that the address comes from, which replaces it at each sign-in; "" for none.
	Provider string
	// Enabled says that the installation sends email.
	Enabled bool
	Pending EmailChange // without an Address: none
}

// MayChange says why the account's person can't change its address here, or returns nil.
func (o OwnEmail) MayChange() error {
	switch {
	case o.Provider != "":
		return &app.Error{Code: app.EConflict, Reason: "managed", Field: "email", Message: fmt.Sprintf("Your email address comes from %s.", o.Provider),
			Hint: "Change it there. Muster takes it over when you next sign in."}
	case !o.Enabled:
		return &app.Error{Code: app.EConflict, Reason: "no_email", Field: "email", Message: "Email isn't set up on this server.",
			Hint: "Ask an admin to change your address, or the operator of Muster to set up email."}
	}
	return nil
}

// EmailCount is how many emails with a link were requested within EmailLimitTime, and when the first of them was.
type EmailCount struct {
	Person, Address           int
	PersonSince, AddressSince time.Time
}

// Check says which limit another email would exceed, or returns nil.
func (c EmailCount) Check(now time.Time) error {
	limit := func(message string, since time.Time) error {
		wait := max(since.Add(EmailLimitTime).Sub(now).Truncate(time.Minute)+time.Minute, time.Minute)
		return &app.Error{Code: app.ERateLimit, Field: "email", RetryAfter: wait, Message: message, Hint: "Try again in " + humanize.Duration(wait) + "."}
	}
	switch {
	case c.Person >= MostPersonEmails:
		return limit(fmt.Sprintf("You requested %d emails within an hour, which is the limit.", MostPersonEmails), c.PersonSince)
	case c.Address >= MostAddressEmails:
		return limit(fmt.Sprintf("%d emails were requested for this address within an hour, which is the limit.", MostAddressEmails), c.AddressSince)
	}
	return nil
}

// Fits says why a link doesn't confirm the address, or returns nil.
func (c EmailChange) Fits(hash []byte, now time.Time) error {
	const hint = "Open the newest email, or send another one from your account page."
	switch {
	case len(c.Hash) == 0 || subtle.ConstantTimeCompare(c.Hash, hash) != 1:
		return &app.Error{Code: app.EConflict, Reason: "invalid_link", Hint: hint,
			Message: "This link doesn't work: it was used, canceled or replaced by a newer one, or is for another account."}
	case !now.Before(c.ExpiresAt):
		return &app.Error{Code: app.EConflict, Reason: "expired",
			Message: "This link has expired: links are valid for " + humanize.Duration(EmailLinkLife) + ".",
			Hint:    "Enter the address again on your account page."}
	}
	return nil
}

// own is the actor in its own account, if it may and is signed in at the portal.
func (a *Emails) own(actor app.Actor, useCase string) (app.Actor, error) {
	actor = actor.AtHome()
	if err := actor.Authorize(useCase); err != nil {
		return actor, err
	}
	_, err := actor.SessionID()
	return actor, err
}

// OwnEmail returns the address of the actor's account.
func (a *Emails) OwnEmail(ctx context.Context, actor app.Actor) (OwnEmail, error) {
	actor, err := a.own(actor, "OwnEmail")
	if err != nil {
		return OwnEmail{}, err
	}
	return a.Store.OwnEmail(ctx, actor.Tenant, actor.User, a.Now())
}

// ChangeEmail emails a link to a new address of the actor's account. It's the same whether another account has that address.
func (a *Emails) ChangeEmail(ctx context.Context, actor app.Actor, address string) error {
	actor, err := a.own(actor, "ChangeEmail")
	if err != nil {
		return err
	}
	if address == "" {
		return &app.Error{Code: app.EInvalid, Field: "email", Message: "Enter an email address.", Hint: "For example ada@example.com."}
	}
	if err := CheckEmail(address); err != nil {
		return err
	}
	return a.Store.StartEmailChange(ctx, actor, address, a.Now())
}

// ResendEmail emails another link to the address that waits for its confirmation. The earlier ones no longer work.
func (a *Emails) ResendEmail(ctx context.Context, actor app.Actor) error {
	actor, err := a.own(actor, "ResendEmail")
	if err != nil {
		return err
	}
	return a.Store.StartEmailChange(ctx, actor, "", a.Now())
}

// CancelEmailChange keeps the address that the actor's account has.
func (a *Emails) CancelEmailChange(ctx context.Context, actor app.Actor) error {
	actor, err := a.own(actor, "CancelEmailChange")
	if err != nil {
		return err
	}
	return a.Store.CancelEmailChange(ctx, actor, a.Now())
}

// ShowEmailChange returns the address that a link confirms.
func (a *Emails) ShowEmailChange(ctx context.Context, actor app.Actor, token string) (address string, err error) {
	actor, err = a.own(actor, "ShowEmailChange")
	if err != nil {
		return "", err
	}
	c, _, err := a.Store.EmailChange(ctx, actor.Tenant, actor.User)
	if err != nil {
		return "", err
	}
	return c.Address, c.Fits(HashToken(token), a.Now())
}

// ConfirmEmail makes the address of a link the one of the actor's account, once.
func (a *Emails) ConfirmEmail(ctx context.Context, actor app.Actor, token string) (address string, err error) {
	actor, err = a.own(actor, "ConfirmEmail")
	if err != nil {
		return "", err
	}
	return a.Store.ConfirmEmailChange(ctx, actor, HashToken(token), a.Now())
}
