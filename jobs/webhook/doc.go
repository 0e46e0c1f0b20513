// Package webhook sends notices to the addresses that tenants name: over HTTP, signed, at least once, and never to where
// they must not lead.
//
// A Sender posts one body to one address. It goes only to addresses that a Guard lets through, after names were looked up,
// follows no redirect, and takes no proxy from the environment. A Deliverer carries out what the store has queued: in order
// for each hook, several hooks at the same time, with retries. It is run by the server that leads.
//
// Errors are *app.Error, one code for each kind of failure, with a sentence for the delivery's log. No error and no log line
// holds a URL's user, password or query.
package webhook
