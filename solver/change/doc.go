// Package change finds how a standing cluster becomes the one that is wanted, with as few machines touched as can be. It
// reads the template for itself (model.go), since what stands may use types and company that a new layout would not.
//
// Nodes that differ in nothing but their names make a class. What may become of one is a fate (options.go), and how many
// nodes of each class meet which fate is a program in whole numbers (choose.go, whole.go). Where nodes can become more than
// is looked through one by one, new nodes are found by the solver (grow.go). What was decided is put on nodes by name
// (apply.go), with reasons (why.go), or refused with what stands in the way (refuse.go).
package change
