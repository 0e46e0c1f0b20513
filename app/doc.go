// Package app is the core of Muster: what all other packages talk about. It holds the nouns that all domains name (cluster, node, operation,
// step, actor, notice …) with the rules that need only their own values, the error codes, and the table of permissions (authorize.go).
//
// What admins publish is in app/template; the contracts with solver, planner, providers and automators are in app/layout, app/plan and
// app/family. The use cases are in the domains, a package each below this one (app/cluster, app/policy …).
//
// It imports only app/humanize and app/observe of this module, and does no input or output. What it needs from outside is an interface that
// cmd provides.
//
// Every error that leaves this package or a domain is either an *Error, whose message is written for the person who asked, or an unexpected
// failure, which the faces log and show as "internal error".
package app
