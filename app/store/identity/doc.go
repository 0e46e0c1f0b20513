// Package identity keeps tenants, accounts, groups, tokens, second factors, secrets and all by which people sign in. What other parts keep of a
// tenant they hand to New, so that it ends, or is copied, in the same transaction.
package identity
