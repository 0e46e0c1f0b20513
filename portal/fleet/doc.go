// Package fleet holds the pages and the REST operations of what Muster runs on: providers, provisioners, receipts,
// orphaned machines, and the settings of the installation. It uses package catalog, since providers are catalog
// entries.
package fleet

//go:generate go run ../page/generate.go
