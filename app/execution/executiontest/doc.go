// Package executiontest has CoordinatorSuite, which every way for workers to reach the server passes: in the same process, or over
// HTTPS.
package executiontest
