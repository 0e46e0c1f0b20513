// Package operation changes clusters that exist, pauses, resumes and cancels operations, finds drift, and runs requests
// once they are approved. Each noun is a type of its own, with its own needs: Updates, Sleeping, Schedules, Leases,
// LeaseWarnings, PausedDeletes, Controls, Partials, RollBacks, Requests, Drifts and Backfills. Builder works out for
// them what a change does and writes nothing; Submitter asks the policies and begins the operation, or keeps the request
// that waits; Finder finds an operation that an actor may see. It uses app/catalog, app/cluster, app/identity,
// app/policy, app/resource and app/secret.
package operation
