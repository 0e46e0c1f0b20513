package notification

import (
	"context"
	"time"

	"muster/app"
)

// EmailState is how far an email is.
type EmailState string

// The states.
const (
	EmailWaiting EmailState = "waiting" // to be sent, or sent again
	EmailSent    EmailState = "sent"
	EmailFailed  EmailState = "failed"
	EmailDropped EmailState = "dropped" // the person has no address anymore, or doesn't want it
)

// Email is a claimed email to a person.
type Email struct {
	Tenant, User string
	Name, To     string // the person's full name and address; To is "" if it isn't wanted anymore
	What         app.Notice
	Address      *AddressEmail // nil: it says What
	Attempts     int           // this one included
	QueuedAt     time.Time
	Holder       string
}

// AddressEmailKind is what an email about an address is for.
type AddressEmailKind string

// The kinds.
const (
	AddressConfirm AddressEmailKind = "confirm" // to a new address, with a link that confirms it
	AddressChanged AddressEmailKind = "changed" // to the address that an account had
)

// AddressEmail is an email about the address of an account.
type AddressEmail struct {
	ID        string
	Kind      AddressEmailKind
	Token     string    // of the link; only its hash is stored, so each attempt has one of its own
	ExpiresAt time.Time // of the link
}

// EmailTime is how long emails are queued after the last server that sends email was seen: as long as they would be tried.
const EmailTime = 24 * time.Hour

// EmailClaim asks for emails to send.
type EmailClaim struct {
	Holder string // of this claim, unlike any other's
	Now    time.Time
	For    time.Duration // how long the claim holds
	Most   int
}

// EmailEnd is what came of an attempt.
type EmailEnd struct {
	Email
	State EmailState
	Next  time.Time // of a waiting one: when it's tried again
	Error string
}

// EmailQueue is what a mailer carries out.
type EmailQueue interface {
	// ClaimEmails returns emails that are due, and when the next one is; zero for none.
	ClaimEmails(ctx context.Context, c EmailClaim) (due []Email, next time.Time, err error)
	// EndEmail is EStale if another server has claimed the email since.
	EndEmail(ctx context.Context, e EmailEnd) error
	// KeepEmail says that a server sends email, for EmailTime from now; StopEmail that it doesn't, whatever other servers do.
	KeepEmail(ctx context.Context, server string, now time.Time) error
	StopEmail(ctx context.Context, server string) error
	ForgetNotifications(ctx context.Context, now time.Time) error
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// EmailNotice returns what an email says. Others than its reader may see an email, so it hides the values of configurations as from someone
// who can't read them.
func (a *Service) EmailNotice(ctx context.Context, e Email) (app.Notice, error) {
	list := []app.Notice{e.What}
	stranger := app.Actor{Tenant: e.Tenant, User: "@email", Role: app.RoleViewer} // no account has this name
	err := a.Masks.MaskNotices(ctx, stranger, list)
	return list[0], err
}
