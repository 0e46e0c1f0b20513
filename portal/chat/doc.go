// Package chat holds the pages that connect chat to a tenant. They use the shared parts of package page only.
package chat

//go:generate go run ../page/generate.go
