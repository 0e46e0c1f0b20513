// Package identity keeps tenants, accounts, groups, tokens, sessions, second factors, sign-ins and secrets. Other parts
// pass functions to New that delete or copy what they keep of a tenant in the same transaction.
package identity
