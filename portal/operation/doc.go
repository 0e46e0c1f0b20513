// Package operation holds the pages and the REST operations of operations: what changes a running cluster, with its
// preview (update, sleep, roll back, cancel, delete, partial success), and the history. It shows parts of a cluster's
// page (package cluster) and plans (package plan).
package operation
