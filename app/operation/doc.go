// Package operation changes clusters that exist: updates, repairs, roll-backs, sleep, schedules and leases.
// It uses app/catalog, app/cluster, app/identity, app/policy, app/resource and app/secret.
package operation
