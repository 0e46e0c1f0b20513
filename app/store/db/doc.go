// Package db is an open database, for all that is kept in it: SQLite through modernc.org/sqlite, or PostgreSQL through pgx, which
// several servers may share. It knows no noun but what everything needs: the feed of events, the audit, notices, sealed values and
// the keys that seal them. Statements are written once for both databases (dialect.go); postgres_session.go says how the writes of
// several servers stay apart, and postgres_line.go how they tell each other and which of them leads.
//
// All writes go through one goroutine that commits many of them in one transaction (see writer.go): each write is
// still atomic by itself, and nobody is told that it happened before it is on disk. Reads use connections of their
// own and see what was last committed.
//
// Private keys are sealed with AES-256-GCM before they are written (seal.go). The key is given to Open and is stored
// nowhere in the database.
package db
