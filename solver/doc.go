// Package solver decides where things go: which services on how many machines of which hardware and image. It takes a
// catalog and a request and gives a layout, or says why there is none. It reads no clock and keeps nothing, so the same
// question gets the same answer; a context may end the work early. Its errors are those that app.Solver states.
//
// # What a layout is
//
// Services without any constraint go on every node. Services that must coexist are merged into blocks (problem.go,
// blocks.go), and a node is a set of blocks that may share it: no two that can't coexist, no complete larger group that
// can't, and some hardware and image type that all accept (family.go). Such a set with the first types, by name, that
// all accept is a kind of node. There must be as many nodes as were asked for, none of them empty, and each block on at
// least min and at most max of them. A service that was asked for has a minimum of 1, unless its template says 0 in
// writing.
//
// Kinds are ordered: more services first, then by name of hardware, of image, of services. Of all layouts the preferred
// one has as many nodes as possible of the first kind, then of the second, and so on.
//
// # How it is found
//
// Neither kinds nor counts are enumerated; both can be more than there are atoms. Instead (solve.go, counts.go):
//
//  1. Ask whether any layout exists. If not, explain (explain.go).
//  2. Find the most preferred kind of which some layout has a node.
//  3. Find the greatest number of such nodes after which the rest can still be made, by bisection.
//  4. Take them off, and go on at 2 until no node is left.
//
// What was passed over in step 2 never comes back, and a kind whose count is as great as can be is not possible any
// more in what is left. So no step has to remember which kinds are behind it.
//
// Whether the rest can be made is simpler than it looks. A set of blocks stays allowed when one is taken away, so blocks
// can be removed from nodes freely, and an empty node can be given a block of another that has two. Hence a layout
// exists exactly when every min is at most its max, all maxima add up to at least the number of nodes (unless some
// service goes everywhere), and the minima can be covered with that many nodes. The last is multicolouring, where nodes
// are the colours. The oracle (cover.go) answers it: first-fit finds most coverings; cliques prove most
// impossibilities; blocks that will find room in any case are left out; then a linear program with column generation
// (lp.go) proves in whole numbers that nodes are too few, or is rounded to a covering; last comes a search.
//
// The most preferred kind is a heaviest independent set (search.go, kinds.go), found by branch and bound. While nodes
// are plenty it is taken as it is. Where they are just enough, a kind may leave a rest that cannot be made. Then the
// oracle's core, which is a set of blocks that alone prove it, gives a clause: the kind must have at least one block of
// those that it lacked. Clauses are made as small as can be, several are learned from one failure, and they rule out
// at once all kinds that would fail for the same reason.
//
// # Limits
//
// Both halves are NP-hard, so some question will always be too hard. What templates look like is not: ten or thirty
// services take well under a millisecond, a hundred with two hundred random exclusions some ten, whatever the number
// of nodes, since equal nodes are counted and not made one by one. It grows slow where a hundred or more entangled
// services are asked for on hardly as many nodes as they need at all; callers should set a deadline. Memory is a few
// megabytes at most.
package solver
