// Package securitykey checks security keys and passkeys, which prove by a signature that a person is at the browser (WebAuthn). It only speaks with the browser's
// side of it: who has which keys, and what a right answer is good for, is up to the use cases. Attestation is not asked for, so no maker of keys is preferred and no
// list of makers is fetched.
//
// Its errors are *app.Error: EUnauthorized or EInvalid where an answer is not right.
package securitykey
