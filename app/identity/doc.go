// Package identity manages tenants, users, groups, tokens, sessions and second factors, signs people in, and keeps the
// audit log. It uses app/catalog.
package identity
