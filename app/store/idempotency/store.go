package idempotency

import "muster/app/store/db"

// Store keeps idempotency keys with their answers.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
