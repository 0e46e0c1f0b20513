// Package resource holds the pages of archives and files for automators. It uses package page only.
package resource

//go:generate go run ../page/generate.go
