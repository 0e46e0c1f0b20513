// Package store keeps Muster's rows in SQL: SQLite through modernc.org/sqlite, or PostgreSQL through pgx, which several
// servers may share. It implements app.Store. A row becomes an app value before it leaves the package. Statements are
// written once for both (dialect.go); postgres_session.go says how the writes of several servers stay apart, and
// postgres_line.go how they tell each other and which of them leads.
//
// All writes go through one goroutine that commits many of them in one transaction (see writer.go): each write is
// still atomic by itself, and nobody is told that it happened before it is on disk. Reads use connections of their
// own and see what was last committed.
//
// Private keys are sealed with AES-256-GCM before they are written (seal.go). The key is given to Open and is stored
// nowhere in the database.
package store
