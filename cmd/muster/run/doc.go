// Package run holds the command that runs commands on the nodes of a cluster.
package run
