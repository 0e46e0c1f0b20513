// Package change finds how a running cluster becomes the requested one with as few changes to machines as possible. It
// reads the template by itself (model.go), since a running cluster may use types and combinations that a new layout
// would not.
//
// Nodes that differ only in their names form a class. What a node can become is a fate (options.go), and how many nodes
// of each class meet which fate is an integer program (choose.go, whole.go). Where there are too many options to try
// one by one, the solver finds the new nodes (grow.go). The result is applied to nodes by name (apply.go), with reasons
// (why.go), or refused with what prevents it (refuse.go).
package change
