package store

import "muster/app/store/db"

// identityStore keeps tenants, accounts and all by which people sign in.
type identityStore struct {
	*db.DB
	parts Parts
}

// newIdentityStore gives the store in a database, of whose tenants others keep parts.
func newIdentityStore(d *db.DB, parts Parts) *identityStore { return &identityStore{d, parts} }
