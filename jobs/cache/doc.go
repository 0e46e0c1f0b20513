// Package cache keeps contents of resources on the disk of a host with workers, so that each is fetched from the server once.
package cache
