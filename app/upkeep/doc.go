// Package upkeep runs what is due: expired leases, overdue requests, budgets, pools, schedules, idle clusters and retries of failed
// deletes. The work itself is done by the domains. It uses app/cluster, app/idle, app/lease, app/operation, app/pool, app/run, app/sharing and app/usage.
package upkeep
