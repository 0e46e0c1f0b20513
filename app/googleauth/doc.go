// Package googleauth puts Google's bearer tokens on HTTP requests. Google's own transport does the same, but brings gRPC, xDS and their
// 10 MB of source with it; all that Muster asks of Google (Compute Engine, Cloud DNS, Cloud Storage, Cloud KMS) is plain REST.
// Credentials themselves are found and renewed by cloud.google.com/go/auth, and its errors are what callers get: *auth.Error where no
// token is issued.
package googleauth
