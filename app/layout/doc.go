// Package layout is the contract of the solver: what it is asked (a request, hosts, existing nodes), what it answers (a Layout, or why there is
// none), and how long answers are kept.
package layout
