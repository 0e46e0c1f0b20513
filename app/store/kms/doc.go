// Package kms uses a key service for the key-encryption key of an installation: AWS KMS, Google Cloud KMS, Azure Key
// Vault or the transit engine of Vault, named by a URL. It wraps and unwraps data keys and doesn't know what they
// encrypt. Errors are *app.Error: EInvalid for a URL that names no key, ECredentials if the service denies access,
// ETransient and ETimeout if it doesn't answer, EConflict for a data key that another key wrapped. No error shows the
// URL's query, which may hold a secret.
package kms
