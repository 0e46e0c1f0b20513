// Package window holds the pages and REST operations of maintenance windows, of the tenant and of clusters. It uses packages page and
// site only.
package window
