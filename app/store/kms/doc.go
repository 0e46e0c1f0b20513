// Package kms holds the key-encryption key of an installation in a key service: AWS KMS, Google Cloud KMS, Azure Key Vault or
// the transit engine of Vault, named by a URL. It wraps and unwraps data keys and knows nothing of what those seal. Errors are
// *app.Error: EInvalid for a URL that names no key, ECredentials where the service does not let us, ETransient and ETimeout where
// it does not answer, EConflict for what another key wrapped. None shows the URL's query, which may hold a secret.
package kms
