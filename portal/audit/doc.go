// Package audit holds the pages that tell who did what: the audit log with its proof, and the secrets with who used
// them. They use the shared parts of package page only.
package audit

//go:generate go run ../page/generate.go
