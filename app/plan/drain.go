package plan

import (
	"muster/app"
)

// DrainID is the id of a step that drains a node before its machine is taken away: another one of the same plan may do the same action later on.
func DrainID(node, service string, action app.Action) string {
	return node + "." + service + ".drain." + string(action)
}

// Drains reports whether a step drains a node. What it configures speaks of no machine that is about to be taken away, and where it stops a service and
// can't, the machine goes all the same.
func Drains(id, node, service string, action app.Action) bool {
	return service != "" && id == DrainID(node, service, action)
}
