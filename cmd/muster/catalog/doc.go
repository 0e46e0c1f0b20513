// Package catalog holds `muster catalog`, `muster template`, `muster provider`, `muster automator` and `muster
// resource`, and tries out providers and automators that are external programs. It uses cli, families for what a
// catalog is checked against, and the layout flags of cluster.
package catalog
