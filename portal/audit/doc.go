// Package audit holds the pages and the REST operations of the audit log with its verification, and of secrets with who
// used them. It uses packages page and site only.
package audit

//go:generate go run ../page/generate.go
