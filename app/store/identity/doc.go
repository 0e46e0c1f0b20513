// Package identity keeps tenants, groups, and their users. It uses packages user, token and session. Other parts pass
// functions to New that delete or copy what they keep of a tenant in the same transaction.
package identity
