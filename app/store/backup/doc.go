// Package backup is the form of a backup: one file, a tar packed with gzip, that any host can look into.
//
//	muster-backup.json       what it is: form, version, installation, migration, tables and their columns
//	rows/TABLE/000001.jsonl  rows, one JSON array a line, in pieces of some MiB
//	resources/000001         contents of resources, if they were requested
//	manifest.json            every file before it with its size and SHA-256, and how many rows each table has
//	proof.json               last: authenticates the manifest with the key-encryption key
//
// It is the same for SQLite and PostgreSQL. What is sealed in the database is sealed here; everything else is readable, so the file is to be
// protected like the database. A truncated file has no proof and is refused, and so is one that was changed in any way: a proof takes the key-encryption key.
// Errors are *app.Error: EInvalid with reason bad_backup if the file is incomplete or was changed, or unauthenticated if it predates proofs;
// EConflict with reason wrong_key if it was created with another key; other errors come from the reader or writer.
package backup
