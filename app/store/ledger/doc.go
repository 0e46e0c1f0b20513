// Package ledger loads and saves what the rules of app/ledger move: steps, operations, nodes and clusters. It also writes
// what follows in the same transaction: notices, calls of webhooks, questions of manual steps, backfills and machines of
// pools. It has no Store; packages operation and execution call its functions.
package ledger
