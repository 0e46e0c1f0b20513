// Package identity holds the pages and REST operations of people: sign-in, second factors, devices, accounts,
// users, groups, tokens and tenants. It uses packages page and site only.
package identity
