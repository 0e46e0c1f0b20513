package policy

import "muster/app/store/db"

// Store keeps policies, quotas, budgets, reservations and duration statistics.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
