// Package catalog manages the catalog: the installation's entries with those of a tenant over them, their versions,
// changes and prices. It also decides which tenants may run machines on Muster's own hosts. It uses no other domain.
package catalog
