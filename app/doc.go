// Package app is the core of Muster: what all other packages talk about. It holds the nouns (cluster, node, template,
// layout, plan, operation, step …) with the rules that need only their own values, the error codes, the table of
// permissions (authorize.go), and the contracts with the outside: provider, automator, solver, planner, worker and
// store. The use cases are in the domains, a package each below this one (app/cluster, app/policy …).
//
// It imports no other package of this module and does no input or output. What it needs from outside is an interface
// that cmd provides.
//
// Every error that leaves this package or a domain is either an *Error, whose message is written for the person who
// asked, or an unexpected failure, which the faces log and show as "internal error".
package app
