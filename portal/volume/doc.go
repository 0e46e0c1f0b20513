// Package volume serves the page and REST operations of volumes.
package volume
