// Package resource holds the pages of archives and files for automators. They use the shared parts of package page
// only.
package resource

//go:generate go run ../page/generate.go
