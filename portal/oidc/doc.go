// Package oidc signs people in with OpenID Connect: it sends browsers to an identity provider, checks the responses
// that they bring back, and returns who signed in and what their groups allow. It keeps no state: the portal remembers
// what is needed in between, and app/identity creates accounts.
//
// It uses the code flow with PKCE (S256), state and nonce. A response is accepted only from the provider that was
// asked: each provider has its own redirect address, and the issuer is checked wherever it appears. Errors are
// *app.Error with a message for the person; what the provider said is wrapped, for the log.
package oidc
