package app

import (
	"context"
	"fmt"
	"time"
)

// How long a proof of who somebody is counts: for what is risky, and for what is risky for others, such as an approval.
const (
	FreshWithin      = 15 * time.Minute
	freshForApproval = 5 * time.Minute
)

// clockSlack is how far the clocks of two servers may differ.
const clockSlack = time.Minute

// Fresh tells whether the actor has proved who it is within such a time. A token never has.
func (a Actor) Fresh(now time.Time, within time.Duration) bool {
	return !a.ProvenAt.IsZero() && a.Token == "" && now.Sub(a.ProvenAt) <= within && a.ProvenAt.Sub(now) <= clockSlack
}

// StepUpReason is the Reason of an EForbidden that a fresh proof of who asks turns into a yes. The portal asks for one and leads
// back; other faces show the sentence.
const StepUpReason = "step_up"

// mustBeFresh asks for a proof of who the actor is that is not older than such a time.
func (a Actor) mustBeFresh(now time.Time, within time.Duration) error {
	if a.Fresh(now, within) {
		return nil
	}
	e := &Error{Code: EForbidden, Reason: StepUpReason, Message: fmt.Sprintf("For this you must have proved within %d minutes that it is you.", within/time.Minute)}
	if a.Session == "" {
		e.Hint = "Do it at the portal, where you can; tokens and chats cannot."
	} else {
		e.Hint = "Confirm who you are, and then do it again."
	}
	return e
}

// mustProve asks people who are signed in for a proof that was fresh when their sign-in was looked up. The table of use cases asks it; those
// that need a proof only for some of what they do ask it then.
func (a Actor) mustProve() error {
	if a.Session == "" {
		return nil
	}
	return a.mustBeFresh(a.SeenAt, FreshWithin)
}

// StepUp takes the password of a local account once more, with the second factor where there is one, and notes that its person is here. EUnauthorized where one
// is wrong; the faces limit how often it is asked.
func (a *App) StepUp(ctx context.Context, actor Actor, password string, p FactorProof) error {
	u, actor, id, err := a.withPassword(ctx, actor, "StepUp", "Confirm who you are at your identity provider.")
	if err != nil {
		return err
	}
	if !passwordFits(u.PasswordHash, password) {
		return &Error{Code: EUnauthorized, Field: "password", Message: "That is not your password."}
	}
	if u.SecondFactor {
		if _, err := a.useFactor(ctx, actor, p); err != nil {
			return err
		}
	}
	return a.Store.ProveSession(ctx, actor, id, a.Now())
}

// StepUpBy is StepUp for who has just signed in again at an identity provider. EForbidden where that was somebody else.
func (a *App) StepUpBy(ctx context.Context, actor Actor, issuer, subject string) error {
	actor = actor.atHome()
	if err := actor.may("StepUpBy"); err != nil {
		return err
	}
	id, err := actor.session()
	if err != nil {
		return err
	}
	user, err := a.Store.UserOfSubject(ctx, issuer, subject, actor.Tenant)
	if err != nil && CodeOf(err) != ENotFound {
		return err
	}
	if err != nil || user != actor.User {
		return &Error{Code: EForbidden, Reason: "someone_else", Message: fmt.Sprintf("At the identity provider you are not %s.", actor.User),
			Hint: "Sign in there as the person who is signed in here, or sign out here first."}
	}
	return a.Store.ProveSession(ctx, actor, id, a.Now())
}
