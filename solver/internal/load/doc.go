// Package load measures what services take of nodes, what hardware offers them, and how much room hosts have left, in whole
// numbers. It knows app's values only.
package load
