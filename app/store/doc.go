// Package store keeps Muster's data in SQL. It joins a part for each noun, each in a package of its own (identity,
// cluster, operation …), on top of one open database (db). Rows become values of app before they leave a part. A
// function on rows that several parts need takes a transaction and is in the lowest of them.
package store
