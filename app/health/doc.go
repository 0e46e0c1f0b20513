// Package health holds what is known of the health of clusters and nodes: findings of checks, and what nodes report about themselves.
package health
