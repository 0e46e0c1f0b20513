package store

// clusterStore keeps clusters with their nodes and operations, as they are read.
type clusterStore struct{ *DB }

// newClusterStore gives the store in a database.
func newClusterStore(d *DB) *clusterStore { return &clusterStore{d} }
