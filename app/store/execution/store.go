package execution

import (
	"sync/atomic"

	"muster/app/store/cluster"
	"muster/app/store/db"
)

// Store keeps the steps of operations as workers carry them out.
type Store struct {
	*db.DB
	clusters *cluster.Store

	finishes db.GroupCommit[*finishCall]
	claims   db.GroupCommit[*claimCall]

	swept atomic.Int64 // when steps were last swept, in microseconds, by the clock of then
}

// New returns the store of a database.
func New(d *db.DB, clusters *cluster.Store) *Store {
	s := &Store{DB: d, clusters: clusters}
	s.finishes = db.GroupCommit[*finishCall]{Act: s.finish, Most: db.MaxGroupCommit}
	s.claims = db.GroupCommit[*claimCall]{Act: s.claim, Most: db.MaxGroupCommit}
	return s
}
