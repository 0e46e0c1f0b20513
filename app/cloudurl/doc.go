// Package cloudurl reads the URLs that name places and keys in clouds, such as s3://BUCKET?region=eu-central-1. Each
// parameter is read once, and an unknown parameter is an error. Errors are *app.Error with EInvalid. They name
// parameters and never show the whole URL, which may hold a secret.
package cloudurl
