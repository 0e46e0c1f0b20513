package session

import "muster/app/store/db"

// Store keeps sessions and what they are confirmed with.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
