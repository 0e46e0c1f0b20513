// Package health holds the pages of health checks, of a cluster's health, and of drift. It uses package page only.
package health

//go:generate go run ../page/generate.go
