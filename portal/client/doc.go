// Package client speaks the REST API of a Muster server, in app's terms. Muster's own command line is made of it, and so can be whatever
// else is written in Go and asks for clusters.
//
// Its errors are *app.Error with the code, the words and the hint of the server; a server that cannot be reached is app.ETransient, and
// errors.Is finds context.Canceled in a call that was called off. What reads is asked again for some seconds where the server says that it
// cannot for the moment. What changes something carries an idempotency key, so that it is done once also where its answer was lost and it
// is sent again. Redirects are followed as net/http does.
//
// It keeps nothing on disk and reads no environment: where a server is, and by which token, is handed in.
package client
