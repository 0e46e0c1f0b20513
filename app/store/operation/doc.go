// Package operation keeps operations: it creates clusters, and submits, pauses, resumes, cancels and rolls back. It uses
// package ledger to save what that changes, and the packages of all nouns whose rows a new operation writes.
package operation
