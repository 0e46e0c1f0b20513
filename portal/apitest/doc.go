// Package apitest holds the REST API to its own description: every answer that a portal sends in a package's tests is checked against the
// OpenAPI document that the same portal publishes. Watch it in TestMain of every package whose tests serve the API; a run in which an answer
// differed from the description fails, whichever test asked for it.
//
// It is stricter than huma's own validation, which is lenient for the sake of people who write requests by hand: names are compared with
// case, and null is only allowed where the description says so.
package apitest
