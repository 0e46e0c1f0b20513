package store

import "muster/app/store/db"

// catalogStore keeps catalogs.
type catalogStore struct{ *db.DB }

// newCatalogStore gives the store in a database.
func newCatalogStore(d *db.DB) *catalogStore { return &catalogStore{d} }
