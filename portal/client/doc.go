// Package client calls the REST API of a Muster server with the types of app. Muster's own command line uses it, and so
// can any Go program that creates clusters.
//
// Its errors are *app.Error with the code, message and hint of the server. A server that can't be reached is
// app.ETransient, and errors.Is finds context.Canceled in a call that was cancelled. Reads are repeated for some
// seconds while the server says that it is unavailable. Changes carry an idempotency key, so that a change whose
// response was lost is sent again and happens once. Redirects are followed as net/http does.
//
// It stores nothing on disk and reads no environment: the caller passes address and token.
package client
