// Package catalog keeps the catalogs of tenants and their versions. Whoever creates a cluster asks it, in the same transaction,
// whether a provider is still the same.
package catalog
