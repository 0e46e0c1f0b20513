package store

import "muster/app/store/db"

// healthStore keeps the health of clusters.
type healthStore struct {
	*db.DB
	clusters *clusterStore
}

// newHealthStore gives the store in a database.
func newHealthStore(d *db.DB, clusters *clusterStore) *healthStore { return &healthStore{d, clusters} }
