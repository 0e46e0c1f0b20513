// Package store keeps Muster's rows in SQL: SQLite through modernc.org/sqlite. It implements app.Store. A row becomes
// an app value before it leaves the package.
//
// All writes go through one goroutine that commits many of them in one transaction (see writer.go): each write is
// still atomic by itself, and nobody is told that it happened before it is on disk. Reads use connections of their
// own and see what was last committed.
//
// Private keys are sealed with AES-256-GCM before they are written (seal.go). The key is given to Open and is stored
// nowhere in the database.
package store
