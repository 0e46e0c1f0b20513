// Package apitest checks the REST API against its own description: every response in a package's tests is compared with
// the OpenAPI document that the same portal publishes. Call Watch in TestMain of every package whose tests serve the
// API. A run in which a response differs from the description fails, whichever test made the request.
//
// It is stricter than huma's own validation, which is lenient for people who write requests by hand: names are
// case-sensitive, and null is only allowed where the description says so.
package apitest
