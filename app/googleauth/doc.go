// Package googleauth adds Google's bearer tokens to HTTP requests. Google's own transport does the same, but brings
// gRPC, xDS and 10 MB of their source with it; everything that Muster uses at Google (Compute Engine, Cloud DNS, Cloud
// Storage, Cloud KMS) is plain REST. Credentials are found and renewed by cloud.google.com/go/auth, whose errors are
// returned: *auth.Error if no token is issued.
package googleauth
