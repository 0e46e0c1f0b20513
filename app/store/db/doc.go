// Package db is an open database: SQLite through modernc.org/sqlite, or PostgreSQL through pgx, which several servers
// may share. It knows no noun except what all parts need: it writes events, audit entries and notices, which packages
// audit and feed read, and it has encrypted values and their keys. Statements are written once for both databases
// (dialect.go). postgres_session.go says how writes of several servers are kept apart, and postgres_line.go how servers
// notify each other and which one leads.
//
// All writes go through one goroutine that commits many of them in one transaction (writer.go). Each write is still
// atomic, and no caller returns before its write is on disk. Reads use connections of their own and see what was last
// committed.
//
// Private keys are encrypted with AES-256-GCM before they are written (encrypt.go). The key is passed to Open and is never
// stored in the database.
package db
