// Package place keeps which of several places a cluster was tried in, and what was recently learned about the stock of places. Package operation calls
// it when a cluster is created or a place is left, and package execution when a machine was created or there was no capacity.
package place
