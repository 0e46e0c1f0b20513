// Package demo holds `muster demo`: a server with its own catalog and a first cluster. It uses server and cluster.
package demo
