package volume

import "muster/app/store/db"

// Store keeps volumes.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
