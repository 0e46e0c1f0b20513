// Package catalog reads published catalogs (providers, hardware, images, services and templates) from directories into
// an app.Catalog. It reads two forms, which may be mixed: Muster's own YAML, strictly, so that a typo is found before
// it costs a cluster; and Coopr's JSON definitions as they are, leniently, since they were written for another program.
//
// It never touches a network, a machine or the environment: a lookup function provides the secrets that a provider's
// settings name, and check functions say what a provider or an automator accepts. All of them come from cmd.
//
// The only error that it returns is Problems: everything that is wrong at once, each with file, line and column, what
// was found, what was expected, and the closest name if there is one.
package catalog
