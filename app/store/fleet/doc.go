// Package fleet keeps provisioners with their shares and tokens, orphaned and lost machines, and the figures for metrics.
// It uses packages cluster, health and identity, and package pool, since a machine that was found may belong to one.
package fleet
