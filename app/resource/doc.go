// Package resource keeps the archives and files that automators use.
// It uses no other domain.
package resource
