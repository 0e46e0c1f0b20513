// Package demo holds `muster demo`: a server with a catalog of its own, and a first cluster to look at.
//
// It uses server for the one, and cluster for the other.
package demo
