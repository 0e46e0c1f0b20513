// Package offline holds `muster solve` and `muster plan`, which work on catalog files without a server.
//
// It uses cli, families for the catalog, and the flags of a layout from cluster.
package offline
