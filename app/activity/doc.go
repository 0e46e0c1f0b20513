// Package activity shows what happens inside clusters: the steps of operations, events, and logs with search. Values of the configuration are hidden
// from those who may not read them.
package activity
