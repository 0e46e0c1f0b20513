// Package session keeps sign-ins, the sessions of the portal, passwords and second factors. It uses packages user and
// token: a new password ends both.
package session
