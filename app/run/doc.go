// Package run has commands run on nodes of clusters, and says how they ended. To run one is an update of the cluster like any other, see
// package operation: policies decide, one operation runs at a time, and workers carry its steps out. It never speaks to nodes. Errors are
// EInvalid with the field "on" for nodes that can't be chosen so, and ENotFound where an operation runs no command or isn't the actor's to
// see.
package run
