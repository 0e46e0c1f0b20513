// Package execution holds the pages of running work: queues, and manual steps with their forms, which ask for values as
// package template does.
package execution

//go:generate go run ../page/generate.go
