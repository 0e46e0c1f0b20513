// Package cloudurl reads the URLs that name places and keys in clouds, such as s3://BUCKET?region=eu-central-1: each parameter is taken once, and
// one that nothing takes is a mistake. Errors are *app.Error of the code EInvalid. They name parameters and never show the whole URL, which may
// hold a secret.
package cloudurl
