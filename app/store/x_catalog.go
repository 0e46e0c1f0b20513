package store

// catalogStore keeps catalogs.
type catalogStore struct{ *DB }

// newCatalogStore gives the store in a database.
func newCatalogStore(d *DB) *catalogStore { return &catalogStore{d} }
