package site

import (
	"muster/app/identity"
)

// SecurityKeys registers and verifies security keys. Options are for the page's script; state is kept on the server and is valid for one
// response.
type SecurityKeys interface {
	// Possible reports whether browsers use security keys at an origin.
	Possible(origin string) bool
	StartAdd(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishAdd returns the key's data to store; EInvalid for an invalid response.
	FinishAdd(origin, tenant, user string, state, answer []byte) (record []byte, err error)
	// StartUse returns "" if the account has no key.
	StartUse(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishUse returns the key's updated data to store; EUnauthorized for an invalid response.
	FinishUse(origin, tenant, user string, have []identity.SecondFactor, state, answer []byte) (identity.SecondFactor, error)
}
