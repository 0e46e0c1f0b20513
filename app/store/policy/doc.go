// Package policy keeps what a tenant may have: policies, quotas, budgets, what is reserved of them, and the paces at which steps went.
// Whoever begins something reserves in the same transaction.
package policy
