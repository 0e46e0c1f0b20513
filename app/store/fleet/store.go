package fleet

import "muster/app/store/db"

// Store keeps provisioners, accounts of providers and gauges.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
