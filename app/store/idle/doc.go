// Package idle keeps how clusters are used: their idle policies, what was measured, and what was saved while they slept. It uses package cluster.
// Packages lease, health, ledger and operation call it when a cluster is created, measured, changed or deleted.
package idle

import "muster/app/store/db"

// Store keeps the use of clusters.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
