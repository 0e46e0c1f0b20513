package quarantine

import "muster/app/store/db"

// Store lists kept machines.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
