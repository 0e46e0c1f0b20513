// Package securitykey checks security keys and passkeys (WebAuthn). It handles the browser's side only: who has which
// keys, and what a valid response allows, is decided by the use cases. It doesn't ask for attestation, so no vendor is
// preferred and no list of vendors is fetched.
//
// Errors are *app.Error: EUnauthorized or EInvalid for a response that isn't valid.
package securitykey
