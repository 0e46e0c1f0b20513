// Package operation changes clusters that exist: updates, repair, roll-back, partial success, sleep, schedules and
// leases. It also pauses, resumes and cancels operations, finds drift, and runs requests once they are approved. It
// uses app/catalog, app/cluster, app/identity, app/policy, app/resource and app/secret.
package operation
