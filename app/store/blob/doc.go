// Package blob keeps the contents of resources: in a directory by default, or in S3, Google Cloud Storage or Azure by a URL. It knows
// names and bytes; what they are for is app's. Contents come into a directory of the server's own first, where their hash is found and
// archives are looked into; they are moved into the store whole or not at all. Errors are *app.Error: ENotFound, ECapacity, ECredentials,
// ETransient. It also fetches from git, with the git command, into the same place.
package blob
