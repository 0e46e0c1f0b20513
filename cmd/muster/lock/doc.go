// Package lock holds the commands that lock clusters and nodes.
package lock
