package store

import "muster/app/store/db"

// policyStore keeps policies, quotas, budgets, reservations and paces.
type policyStore struct{ *db.DB }

// newPolicyStore gives the store in a database.
func newPolicyStore(d *db.DB) *policyStore { return &policyStore{d} }
