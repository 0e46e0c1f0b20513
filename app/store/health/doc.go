// Package health keeps health checks, their results, and automatic repairs. It uses package cluster. Package operation
// calls it when a cluster is created, changed or deleted.
package health
