// Package scaling keeps how clusters are scaled: rules, what was measured, and what was decided. It uses package cluster. Packages health, ledger and
// operation call it when a cluster is created, measured, changed or deleted.
package scaling

import "muster/app/store/db"

// Store keeps the scaling of clusters.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
