// Package load measures what services need of nodes, what hardware offers, and how much room hosts have left, as
// integers. It uses app only.
package load
