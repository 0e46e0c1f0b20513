// Package output shows the outputs of clusters, and hands secret ones and files to those who can use the cluster. It holds pages and REST
// operations, and uses packages page and site only.
package output
