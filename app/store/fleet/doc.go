// Package fleet keeps provisioners with their shares and tokens, orphaned machines, and the figures for metrics. It
// uses package operation, since a machine that was found may belong to a pool.
package fleet
