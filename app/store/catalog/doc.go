// Package catalog keeps the catalogs of tenants, and the versions of all entries. A create checks here, in its own
// transaction, that its provider hasn't changed.
package catalog
