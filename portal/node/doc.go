// Package node shows the nodes of all clusters: the page, and the REST operation.
package node
