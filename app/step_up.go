package app

import (
	"time"

	"muster/app/humanize"
)

// How long a proof of who someone is counts: for what is risky, and for what is risky for others, such as an approval.
const (
	FreshWithin      = 15 * time.Minute
	FreshForApproval = 5 * time.Minute
)

// ClockSlack is how far the clocks of two servers may differ.
const ClockSlack = time.Minute

// Fresh reports whether the actor has proved who it is within such a time. A token never has.
func (a Actor) Fresh(now time.Time, within time.Duration) bool {
	return !a.ProvenAt.IsZero() && a.Token == "" && now.Sub(a.ProvenAt) <= within && a.ProvenAt.Sub(now) <= ClockSlack
}

// StepUpReason is the Reason of an EForbidden that a fresh proof of who asks turns into a yes. The portal asks for one and leads
// back; other faces show the sentence.
const StepUpReason = "step_up"

// MustBeFresh asks for a proof of who the actor is that is not older than such a time.
func (a Actor) MustBeFresh(now time.Time, within time.Duration) error {
	if a.Fresh(now, within) {
		return nil
	}
	e := &Error{Code: EForbidden, Reason: StepUpReason, Message: "This requires that you re-authenticated within the last " + humanize.Duration(within) + "."}
	if a.Session == "" {
		e.Hint = "Use the portal. API tokens and chat can't be used for this."
	} else {
		e.Hint = "Re-authenticate, then try again."
	}
	return e
}

// MustStepUp asks people who are signed in for a proof that was fresh when their sign-in was looked up. The table of use cases asks it; those
// that need a proof only for some of what they do ask it then.
func (a Actor) MustStepUp() error {
	if a.Session == "" {
		return nil
	}
	return a.MustBeFresh(a.SeenAt, FreshWithin)
}
