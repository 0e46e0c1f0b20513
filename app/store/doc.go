// Package store keeps Muster's rows in SQL. It implements app.Store by putting together a part for each noun, each in a package of
// its own (identity, cluster, operation …) on top of one open database (db). A row becomes an app value before it leaves a part.
// A row function that several parts need takes a transaction and lives in the lowest of them.
package store
