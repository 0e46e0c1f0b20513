package identity

import "muster/app/store/db"

// Store keeps tenants, accounts and all by which people sign in.
type Store struct {
	*db.DB
	parts Parts
}

// New returns the store of a database, of whose tenants others keep parts.
func New(d *db.DB, parts Parts) *Store { return &Store{d, parts} }
