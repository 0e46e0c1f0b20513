// Package identity has the cases of every store about accounts: people, groups, tokens, sign-ins, second factors and tenants. It uses kit.
package identity
