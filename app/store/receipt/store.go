package receipt

import "muster/app/store/db"

// Store keeps what was created at providers.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
