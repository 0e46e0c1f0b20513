// Package offline holds `muster solve` and `muster plan`, which need catalog files and no server. It uses cli, families
// for the catalog, and the layout flags of cluster.
package offline
