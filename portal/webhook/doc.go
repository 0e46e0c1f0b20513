// Package webhook holds the pages of webhooks with their deliveries, and of notices. It uses package page only.
package webhook

//go:generate go run ../page/generate.go
