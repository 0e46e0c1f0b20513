// Package scaling grows and shrinks clusters by schedule and by metric. What scripts say comes from batches of health checks, what Prometheus says from a
// query; the rules that judge it are pure. A change of size is an ordinary update of the cluster. What isn't known never shrinks a cluster.
package scaling
