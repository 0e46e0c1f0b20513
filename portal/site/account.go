package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// Accounts is a power that a Muster may have: people look after their own account. A portal without it has no such pages.
type Accounts interface {
	Newcomers
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

// KeyDone is what a page says once about what was just done.
const KeyDone = "done"

// Accounts gives the use cases of accounts, or nil.
func (p *Site) Accounts() Accounts {
	m, _ := p.Muster.(Accounts)
	return m
}
