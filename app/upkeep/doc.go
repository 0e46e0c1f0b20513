// Package upkeep does what has to be done from time to time.
// It uses app/cluster, app/operation, app/pool and app/usage.
package upkeep
