package store

import "muster/app/store/db"

// fleetStore keeps provisioners, accounts of providers and gauges.
type fleetStore struct{ *db.DB }

// newFleetStore gives the store in a database.
func newFleetStore(d *db.DB) *fleetStore { return &fleetStore{d} }
