package operation

import (
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// Store keeps operations.
type Store struct {
	*db.DB
	clusters *cluster.Store
}

// New returns the store of a database.
func New(d *db.DB, clusters *cluster.Store) *Store { return &Store{d, clusters} }
