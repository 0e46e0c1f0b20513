// Package policy keeps policies, quotas, budgets, reservations of quota, and how long steps took. Whatever starts a
// cluster or a change reserves its quota here, in the same transaction.
package policy
