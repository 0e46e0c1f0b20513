// Package identity knows tenants, users, groups, tokens, sessions and how people sign in, and keeps the audit log.
// It uses app/catalog.
package identity
