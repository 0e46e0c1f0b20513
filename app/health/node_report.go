package health

import (
	"strings"
	"time"

	"muster/app"
)

// NodeReport says what a node was found to be, measured by what every service may assume of its node. It is made when the
// node is bootstrapped, and again when it is given the names of its peers.
type NodeReport struct {
	Node   string          `json:"node,omitempty"` // where it is notified of several nodes
	Checks []app.NodeCheck `json:"checks"`         // in the order in which they are shown
	At     time.Time       `json:"at"`
}

// The levels.
const (
	NodeRequired app.NodeLevel = "required" // services cannot be put on the node
	NodeAdvised  app.NodeLevel = "advised"  // some services may have trouble
)

// Limits on a report, which comes from a worker; what is longer is cut.
const (
	maxNodeChecks = 64
	maxCheckText  = 1000 // bytes
)

// Bounded returns the report within its limits; nil of none.
func (r *NodeReport) Bounded() *NodeReport {
	if r == nil {
		return nil
	}
	out := &NodeReport{At: r.At, Checks: make([]app.NodeCheck, 0, min(len(r.Checks), maxNodeChecks))}
	for _, c := range r.Checks[:min(len(r.Checks), maxNodeChecks)] {
		for _, s := range []*string{&c.Name, &c.Found, &c.Want, &c.Hint, &c.Skipped} {
			if len(*s) > maxCheckText {
				*s = strings.ToValidUTF8((*s)[:maxCheckText], "") + " …"
			}
		}
		out.Checks = append(out.Checks, c)
	}
	return out
}

// MaxNodeReports is how many reports are listed at once.
const MaxNodeReports = 1000

// Failed returns the checks of a level that are not OK.
func (r *NodeReport) Failed(level app.NodeLevel) []app.NodeCheck {
	var all []app.NodeCheck
	for _, c := range r.Checks {
		if !c.OK && c.Level == level {
			all = append(all, c)
		}
	}
	return all
}

// Err is nil where every required check is OK. Otherwise it is EInvalid with reason "node_contract" and tells all that
// failed.
func (r *NodeReport) Err(node string) error {
	failed := r.Failed(NodeRequired)
	if len(failed) == 0 {
		return nil
	}
	var what, hints []string
	for _, c := range failed {
		what = append(what, c.String())
		if c.Hint != "" {
			hints = append(hints, c.Hint)
		}
	}
	return &app.Error{
		Code: app.EInvalid, Reason: "node_contract",
		Message: "Node " + node + " doesn't meet the requirements: " + strings.Join(what, "; ") + ".",
		Hint:    strings.Join(hints, " "),
	}
}
