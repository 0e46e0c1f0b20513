// Package catalog knows the entries of the catalog, of the installation and of tenants, with their versions and prices.
// It uses no other domain.
package catalog
