package store

// healthStore keeps the health of clusters.
type healthStore struct {
	*DB
	clusters *clusterStore
}

// newHealthStore gives the store in a database.
func newHealthStore(d *DB, clusters *clusterStore) *healthStore { return &healthStore{d, clusters} }
