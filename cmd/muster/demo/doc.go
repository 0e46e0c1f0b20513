// Package demo holds `muster demo`: a server with a catalog of its own and a first cluster. It uses server and cluster.
package demo
