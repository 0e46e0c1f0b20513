package identity

import (
	"context"
	"fmt"

	"muster/app"
)

// StepUp takes the password of a local account once more, with the second factor where there is one, and notes that its person is here. EUnauthorized where one
// is wrong; the faces limit how often it is asked.
func (a *Service) StepUp(ctx context.Context, actor app.Actor, password string, p FactorProof) error {
	u, actor, id, err := a.withPassword(ctx, actor, "StepUp", "Confirm who you are at your identity provider.")
	if err != nil {
		return err
	}
	if !passwordFits(u.PasswordHash, password) {
		return &app.Error{Code: app.EUnauthorized, Field: "password", Message: "That is not your password."}
	}
	if u.SecondFactor {
		if _, err := a.useFactor(ctx, actor, p); err != nil {
			return err
		}
	}
	return a.Store.ProveSession(ctx, actor, id, a.Now())
}

// StepUpBy is StepUp for who has just signed in again at an identity provider. EForbidden where that was somebody else.
func (a *Service) StepUpBy(ctx context.Context, actor app.Actor, issuer, subject string) error {
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
		return &app.Error{Code: app.EForbidden, Reason: "someone_else", Message: fmt.Sprintf("At the identity provider you are not %s.", actor.User),
			Hint: "Sign in there as the person who is signed in here, or sign out here first."}
	}
	return a.Store.ProveSession(ctx, actor, id, a.Now())
}
