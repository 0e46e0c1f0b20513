// Package place creates clusters in one of several places: it works out what a request comes to in each of them, orders them, and continues with the next
// one where a provider has no capacity. Each attempt is a cluster of its own, created only once the machines of the one before it are proven to be deleted.
// Requests that name one place pass through unchanged to package cluster.
package place
