package usage

import "muster/app/store/db"

// Store reads what was used and what will be.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
