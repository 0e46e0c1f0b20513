// Package wiring joins the use cases and the portal with all that is the same wherever this binary runs them: solver, planner, keys,
// engines of rules, and the families as they are built in or plugged in. The server, cmd/demodata and cmd/bench add what differs: the
// database, the catalog, the clock and their limits. It opens nothing.
package wiring
