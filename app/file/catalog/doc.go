// Package catalog reads what an admin has published (providers, hardware, images, services and templates) from
// directories into an app.Catalog. Two forms are read, also side by side: Muster's own YAML, strictly, so that a typing
// error is found before it costs a cluster; and Coopr's JSON definitions as they are, leniently, since they were
// written for another reader.
//
// It never touches a network, a machine or the environment: secrets that a provider's settings name come from a lookup
// function, and what a provider or an automator thinks of its fields comes from check functions, all handed in by cmd.
//
// The only error that it returns is Problems: everything that is wrong, at once, each with its file, line and column,
// what was found, what was expected, and the nearest name where one is near. YAML lives only here.
package catalog
