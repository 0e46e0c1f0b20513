// Package migrations holds the numbered SQL files that make and change Muster's tables, embedded for goose. It has no
// logic. A file is one thought and is left alone once it has been merged.
//
// A new one has the next number, needs `make generate` afterwards, and has a part after "-- +goose Down" that undoes the part after
// "-- +goose Up", as 00058_lost_machines.sql has for a column and 00055_cluster_sharing.sql for tables. It's written for SQLite:
// app/store/db/dialect.go translates types for PostgreSQL. A new column has a default, since servers of the version before still write
// rows; docs/upgrades.md says what to do if that's impossible. Backups contain a new table unless passingTables in
// app/store/db/snapshot.go lists it, and restoring (app/store/db/post_restore.go) changes older tables, before later migrations run.
package migrations

import "embed"

// FS holds the migrations, in goose's form.
//
//go:embed *.sql
var FS embed.FS

// SQLite is the schema that all migrations together make, and their rows, for new SQLite databases. `make generate` writes it.
//
//go:embed schema/sqlite.sql
var SQLite string
