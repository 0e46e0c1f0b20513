package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// SecondFactors are the use cases of second factors.
type SecondFactors interface {
	// PendingFactors and FinishSignIn take the session that SignIn left pending; EUnauthorized with reason expired where the password must be entered again.
	PendingFactors(ctx context.Context, pending app.Session) (identity.SecondFactors, error)
	FinishSignIn(ctx context.Context, pending app.Session, f identity.FactorProof, v app.Visit) (app.Session, error)
	SecondFactors(ctx context.Context, a app.Actor) (identity.SecondFactors, error)
	StartAuthenticator(ctx context.Context, a app.Actor) (secret string, err error)
	// ConfirmAuthenticator and AddSecurityKey return recovery codes with the account's first factor.
	ConfirmAuthenticator(ctx context.Context, a app.Actor, code string) ([]string, error)
	AddSecurityKey(ctx context.Context, a app.Actor, name string, record []byte) ([]string, error)
	RemoveSecondFactor(ctx context.Context, a app.Actor, id string) error
	ReplaceRecoveryCodes(ctx context.Context, a app.Actor) ([]string, error)
	ResetSecondFactor(ctx context.Context, a app.Actor, user string) error
	RequireSecondFactor(ctx context.Context, a app.Actor, required bool) error
}

// SecurityKeys speaks with the browser about security keys. Options are for the page's script; state is kept at the server and is good for one answer.
type SecurityKeys interface {
	// Possible reports whether browsers use security keys at an origin.
	Possible(origin string) bool
	StartAdd(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishAdd returns what is to be kept of the key; EInvalid where the answer is not right.
	FinishAdd(origin, tenant, user string, state, answer []byte) (record []byte, err error)
	// StartUse returns "" where the account has no key.
	StartUse(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishUse returns the key that answered, as it is to be kept from now on; EUnauthorized where the answer is not right.
	FinishUse(origin, tenant, user string, have []identity.SecondFactor, state, answer []byte) (identity.SecondFactor, error)
}
