// Package identity holds the pages of people: signing in, second factors, devices, accounts, users, groups, tokens and
// tenants. They use the shared parts of package page only.
package identity

//go:generate go run ../page/generate.go
