// Package cluster reads clusters with their nodes, operations, steps, leases, shares and costs, and writes what changes
// without an operation. It uses packages identity and policy; packages health, build and operation use its functions on
// rows.
package cluster
