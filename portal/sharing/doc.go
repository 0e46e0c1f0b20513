// Package sharing holds the pages and REST operations for who may see and use a cluster, and for the visibility of a tenant's new clusters. It uses
// packages page and site only.
package sharing
