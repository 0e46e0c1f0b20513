// Package idle finds clusters that no one uses, warns their owners, and then puts them to sleep or deletes them. What was measured on nodes comes
// from batches of health checks; the rules that judge it are pure. What isn't known never counts as idle. It uses app/cluster and app/operation.
package idle
