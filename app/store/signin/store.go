package signin

import "muster/app/store/db"

// Store keeps ways to sign in that begin elsewhere.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
