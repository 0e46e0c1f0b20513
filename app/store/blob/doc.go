// Package blob keeps the contents of resources: in a directory by default, or in S3, Google Cloud Storage or Azure,
// named by a URL. It knows names and bytes only. Contents first go to a directory of the server, where they are hashed
// and archives are checked; then they are moved to the store as a whole or not at all. It also fetches from git, with
// the git command, into the same place. Errors are *app.Error: ENotFound, ECapacity, ECredentials, ETransient.
package blob
