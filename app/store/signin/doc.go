// Package signin keeps how people sign in from elsewhere: subjects of identity providers, linked identities, and devices
// that wait for a code. It uses packages identity, session, token and user, since a first sign-in may create an account.
package signin
