package store

// policyStore keeps policies, quotas, budgets, reservations and paces.
type policyStore struct{ *DB }

// newPolicyStore gives the store in a database.
func newPolicyStore(d *DB) *policyStore { return &policyStore{d} }
