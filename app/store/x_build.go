package store

import "muster/app/store/db"

// buildStore keeps builds.
type buildStore struct{ *db.DB }

// newBuildStore gives the store in a database.
func newBuildStore(d *db.DB) *buildStore { return &buildStore{d} }
