// Package fleet holds the pages and REST operations of providers, provisioners, receipts, orphaned machines and the installation's
// settings. It uses package catalog, since providers are catalog entries.
package fleet
