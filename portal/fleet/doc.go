// Package fleet holds the pages of what Muster runs on: providers, provisioners, receipts of machines, orphaned
// machines and the settings of the installation. Providers are entries of the catalog, hence their links to it.
package fleet

//go:generate go run ../page/generate.go
