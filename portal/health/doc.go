// Package health holds the pages of health checks, of a cluster's health and drift. They use the shared parts of
// package page only.
package health

//go:generate go run ../page/generate.go
