// Package oidc signs people in by OpenID Connect: it sends browsers to an identity provider, checks the answers that they bring
// back, and says in Muster's words who came and what their groups open to them. It keeps nothing and decides nothing else; the
// portal holds what must be remembered meanwhile, and app makes accounts of persons.
//
// It speaks the code flow with PKCE (S256), state and nonce. Answers are taken from the provider that was asked alone: each has
// an address of its own to come back to, and its issuer is checked wherever it is told. Errors are *app.Error, in words for the
// person; what the provider said stands behind them, for the log.
package oidc
