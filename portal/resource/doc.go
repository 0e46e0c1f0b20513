// Package resource holds the pages and the REST operations of archives and files for automators. It uses packages page
// and site only.
package resource
