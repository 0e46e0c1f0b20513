// Package cluster reads clusters with their nodes, operations, steps and shares, and writes what changes without an
// operation. It uses packages identity, policy and user. All packages about what happens to clusters use its functions
// on rows.
package cluster
