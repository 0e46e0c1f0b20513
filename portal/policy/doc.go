// Package policy holds the pages of policies and of the requests that wait for approval. A request shows its preview as
// package plan draws it.
package policy

//go:generate go run ../page/generate.go
