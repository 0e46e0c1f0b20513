// Package scaling holds the page and REST operations of a cluster's scaling. It uses packages page and site only.
package scaling
