// Package webhook holds the pages and the REST operations of webhooks with their deliveries, and of notices. It uses
// packages page and site only.
package webhook

//go:generate go run ../page/generate.go
