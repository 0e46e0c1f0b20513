package pool

import "muster/app/store/db"

// Store keeps pools with their machines.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
