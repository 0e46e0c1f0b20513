// Package webhook delivers notices to the addresses that tenants enter: over HTTP, signed, at least once, and never to
// an address that they must not reach.
//
// A Sender posts one body to one address. It connects only to addresses that a Guard allows after names are resolved,
// follows no redirects, and takes no proxy from the environment. A Deliverer sends what the store has queued: in order
// for each webhook, several webhooks at once, with retries. It runs in the server that leads.
//
// Errors are *app.Error, one code for each kind of failure, with a sentence for the delivery's log. No error and no log
// line contains a URL's user, password or query.
package webhook
