package store

import "muster/app/store/db"

// clusterStore keeps clusters with their nodes and operations, as they are read.
type clusterStore struct{ *db.DB }

// newClusterStore gives the store in a database.
func newClusterStore(d *db.DB) *clusterStore { return &clusterStore{d} }
