// Package identity holds the pages of people: sign-in, second factors, devices, accounts, users, groups, tokens and
// tenants. It uses package page only.
package identity

//go:generate go run ../page/generate.go
