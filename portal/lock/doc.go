// Package lock holds the pages and REST operations to lock clusters and nodes. It uses packages page and site only.
package lock
