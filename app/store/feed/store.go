package feed

import "muster/app/store/db"

// Store reads events, logs and notices.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
