package identity

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

// StepUpStore notes that a person has proved again who they are.
type StepUpStore interface {
	// RecordStepUp notes that a person has proved again who they are, in the sign-in that the actor asks from.
	RecordStepUp(ctx context.Context, who app.Actor, id int64, at time.Time) error
	// UserOfSubject returns the name of a person's account in a tenant, or ENotFound.
	UserOfSubject(ctx context.Context, issuer, subject, tenant string) (user string, err error)
}

// StepUpsConfig is what StepUps is created from. Only what says so may be nil.
type StepUpsConfig struct {
	Store StepUpStore
	Now   func() time.Time

	Factors   *Factors
	Passwords *Passwords
}

// StepUps let people prove again who they are.
type StepUps struct {
	StepUpsConfig
}

// NewStepUps returns them on top of what c holds.
func NewStepUps(c StepUpsConfig) *StepUps { return &StepUps{StepUpsConfig: c} }

// StepUp takes the password of a local account once more, with the second factor where there is one, and notes that its person is here. EUnauthorized where one
// is wrong; the faces limit how often it is asked.
func (a *StepUps) StepUp(ctx context.Context, actor app.Actor, password string, p FactorProof) error {
	u, actor, id, err := a.Passwords.withPassword(ctx, actor, "StepUp", "Re-authenticate at your identity provider.")
	if err != nil {
		return err
	}
	if !passwordFits(u.PasswordHash, password) {
		return &app.Error{Code: app.EUnauthorized, Field: "password", Message: "Wrong password."}
	}
	if u.SecondFactor {
		if _, err := a.Factors.useFactor(ctx, actor, p); err != nil {
			return err
		}
	}
	return a.Store.RecordStepUp(ctx, actor, id, a.Now())
}

// StepUpBy is StepUp for who has just signed in again at an identity provider. EForbidden where that was someone else.
func (a *StepUps) StepUpBy(ctx context.Context, actor app.Actor, issuer, subject string) error {
	actor = actor.AtHome()
	if err := actor.Authorize("StepUpBy"); err != nil {
		return err
	}
	id, err := actor.SessionID()
	if err != nil {
		return err
	}
	user, err := a.Store.UserOfSubject(ctx, issuer, subject, actor.Tenant)
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return err
	}
	if err != nil || user != actor.User {
		return &app.Error{Code: app.EForbidden, Reason: "someone_else", Message: fmt.Sprintf("You're signed in to the identity provider as someone other than %s.", actor.User),
			Hint: "Sign in there with the same account, or sign out here first."}
	}
	return a.Store.RecordStepUp(ctx, actor, id, a.Now())
}
