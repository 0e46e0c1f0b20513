// Package usage counts what is used and what it costs.
// It uses app/cluster, app/operation and app/policy.
package usage
