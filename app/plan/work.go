package plan

import (
	"muster/app/humanize"
)

// NodeChange is what happens to a node.
type NodeChange string

// The changes of a node; "" for one that stands and stays.
const (
	NodeNew      NodeChange = "new"      // it is made
	NodeGone     NodeChange = "gone"     // its services stop, and its machine is given back
	NodeReplaced NodeChange = "replaced" // its machine is given back and made again, with name, host key and services as they were
)

// ServiceWork is what is done to a service on a node that has it before and after.
type ServiceWork string

// The kinds of work, with the actions of each, as far as the service has them.
const (
	WorkConfigure ServiceWork = "configure" // configure
	WorkReload    ServiceWork = "reload"    // configure, then reload; without a reload action stop and start
	WorkRestart   ServiceWork = "restart"   // stop, start
	WorkStop      ServiceWork = "stop"      // stop
	WorkStart     ServiceWork = "start"     // start
	WorkUpgrade   ServiceWork = "upgrade"   // stop, install, configure, start
	// WorkStopConfigure is stop, then configure: what is new is read when the service is next started.
	WorkStopConfigure ServiceWork = "stop_configure"
	WorkCompare       ServiceWork = "compare" // nothing: its tool says what it would change
)

// Done is the work as it was done to a service: "reloaded".
func (w ServiceWork) Done() string {
	switch w {
	case WorkCompare:
		return "compared with what its tool would change"
	case WorkConfigure:
		return "reconfigured without a restart"
	case WorkReload:
		return "reconfigured and reloaded"
	case WorkRestart:
		return "restarted"
	case WorkStop:
		return "stopped"
	case WorkStopConfigure:
		return "stopped and reconfigured"
	case WorkStart:
		return "started"
	case WorkUpgrade:
		return "upgraded"
	}
	return humanize.Spaced(string(w))
}
