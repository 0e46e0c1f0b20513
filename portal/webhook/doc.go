// Package webhook holds the pages of webhooks and their deliveries, and of notices. They use the shared parts of
// package page only.
package webhook

//go:generate go run ../page/generate.go
