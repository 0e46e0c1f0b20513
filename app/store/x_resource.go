package store

// resourceStore keeps resources.
type resourceStore struct{ *DB }

// newResourceStore gives the store in a database.
func newResourceStore(d *DB) *resourceStore { return &resourceStore{d} }
