// Package chat holds the pages that connect chat workspaces to a tenant. It uses package page only.
package chat

//go:generate go run ../page/generate.go
