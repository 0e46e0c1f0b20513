package site

import (
	"muster/app/identity"
)

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
