// Package build receives deliveries from build systems, matches them with the rules of build hooks, creates a cluster
// for each build that wants one, deletes it when the build ends, and reports statuses back. It uses app/catalog,
// app/cluster, app/identity, app/lease, app/policy and app/webhook.
package build
