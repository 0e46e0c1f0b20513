// Package build keeps build hooks, builds, their deliveries and callbacks. It uses package cluster to see who may read
// a build. Package operation claims and wakes builds in its own transactions.
package build
