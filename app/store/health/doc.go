// Package health keeps rounds of health checks, what they found, and repairs. It uses cluster, and hands package operation the row
// functions with which a cluster begins, changes and ends.
package health
