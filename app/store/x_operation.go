package store

import "sync/atomic"

// operationStore keeps operations with their steps, and all that begins or changes one.
type operationStore struct {
	*DB
	clusters *clusterStore

	finishes gathering[*finishCall]
	claims   gathering[*claimCall]

	swept atomic.Int64 // when steps were last swept, in microseconds, by the clock of then
}

// newOperationStore gives the store in a database.
func newOperationStore(d *DB, clusters *clusterStore) *operationStore {
	s := &operationStore{DB: d, clusters: clusters}
	s.finishes = gathering[*finishCall]{act: s.finish, most: mostGathered}
	s.claims = gathering[*claimCall]{act: s.claim, most: mostGathered}
	return s
}
