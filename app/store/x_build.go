package store

// buildStore keeps builds.
type buildStore struct{ *DB }

// newBuildStore gives the store in a database.
func newBuildStore(d *DB) *buildStore { return &buildStore{d} }
