package cluster

import "muster/app/store/db"

// Store keeps clusters with their nodes and operations, as they are read.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
