// Package policy holds the pages and the REST operations of policies, and of requests that wait for approval. A request
// shows its preview by package plan.
package policy

//go:generate go run ../page/generate.go
