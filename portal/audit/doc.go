// Package audit holds the pages of the audit log with its verification, and of secrets with who used them. It uses
// package page only.
package audit

//go:generate go run ../page/generate.go
