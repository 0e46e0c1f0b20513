// Package cluster keeps clusters as they are read: with their nodes, operations, steps, leases, shares and costs. What changes a cluster
// by an operation is package operation's; it uses the row functions here, as health and build do.
package cluster
