package store

import "muster/app/store/db"

// resourceStore keeps resources.
type resourceStore struct{ *db.DB }

// newResourceStore gives the store in a database.
func newResourceStore(d *db.DB) *resourceStore { return &resourceStore{d} }
