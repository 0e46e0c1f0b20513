// Package backup is the form of a backup: one file, a tar packed with gzip, that any host can look into.
//
//	muster-backup.json       what it is: form, version, installation, migration, tables and their columns
//	rows/TABLE/000001.jsonl  rows, one JSON array a line, in pieces of some MiB
//	resources/000001         contents of resources, where they were asked for
//	manifest.json            every file before it with its size and SHA-256, and how many rows each table has
//	proof.json               the last: the manifest authenticated by the key-encryption key
//
// It is the same for SQLite and PostgreSQL. What is sealed in the database is sealed here; everything else is readable, so the file is to be
// kept as the database is. A file that was cut short has no proof and is refused, as is one in which anything is other than it was written: nobody makes a proof who
// does not have the key-encryption key.
// Errors are *app.Error: EInvalid, reason bad_backup, for a file that is not whole or was changed, and unauthenticated for one from before there were proofs;
// EConflict, reason wrong_key, for one of another key; the others are those of whoever reads or writes.
package backup
