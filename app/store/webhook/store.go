package webhook

import "muster/app/store/db"

// Store keeps hooks and what they deliver.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
