package health

import (
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// Store keeps the health of clusters.
type Store struct {
	*db.DB
	clusters *cluster.Store
}

// New returns the store of a database.
func New(d *db.DB, clusters *cluster.Store) *Store { return &Store{d, clusters} }
