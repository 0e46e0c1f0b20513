package user

import "muster/app/store/db"

// Store keeps the accounts of users.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
