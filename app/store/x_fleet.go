package store

// fleetStore keeps provisioners, accounts of providers and gauges.
type fleetStore struct{ *DB }

// newFleetStore gives the store in a database.
func newFleetStore(d *DB) *fleetStore { return &fleetStore{d} }
