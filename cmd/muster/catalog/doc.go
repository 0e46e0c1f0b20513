// Package catalog holds the commands on catalogs and what they name: `muster catalog`, `muster template`, `muster provider`,
// `muster automator` and `muster resource`, with trials of providers and automators in programs of their own.
//
// It uses cli, families for what a catalog is checked against, and the flags of a layout from cluster.
package catalog
