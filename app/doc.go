// Package app is the still point of Muster. It holds the nouns (cluster, node, template, layout, plan, operation,
// step), the error codes, the contracts with the outside (provider, automator, solver, planner, doorbell, store) and the
// use cases that every face calls. It imports no other package of this module and does no input or output of its
// own: whatever it needs from outside is an interface declared here and handed in by cmd.
//
// Every error that leaves this package is either an *Error, whose message is meant for the person who asked, or an
// unexpected failure, which the faces log and show only as "internal error".
package app
