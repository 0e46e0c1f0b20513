// Package fleet manages what clusters run on: provisioners and how work is balanced between them, providers and their
// accounts, orphaned machines, and the receipt of every machine that a cluster had. It uses app/catalog, app/cluster,
// app/execution, app/identity, app/operation and app/secret.
package fleet
