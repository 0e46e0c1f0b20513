package app

import (
	"strings"
	"time"
)

// NodeReport says what a node was found to be, measured by what every service may assume of its node. It is made when the
// node is bootstrapped.
type NodeReport struct {
	Checks []NodeCheck `json:"checks"` // in the order in which they are told
	At     time.Time   `json:"at"`
}

// NodeLevel says what a check that fails means.
type NodeLevel string

// The levels.
const (
	NodeRequired NodeLevel = "required" // services cannot be put on the node
	NodeAdvised  NodeLevel = "advised"  // some services may have trouble
)

// NodeCheck is one thing that was looked at. One that was not looked at is OK and says in Skipped why: "the machine shares this
// host's file system".
type NodeCheck struct {
	Name    string    `json:"name"` // one word, such as "time"
	OK      bool      `json:"ok"`
	Level   NodeLevel `json:"level"`
	Found   string    `json:"found,omitempty"`
	Want    string    `json:"want,omitempty"`
	Hint    string    `json:"hint,omitempty"`    // what would mend it, where it is not OK
	Skipped string    `json:"skipped,omitempty"` // not checked, because of this
}

// String says it in a line for people.
func (c NodeCheck) String() string {
	switch {
	case c.Skipped != "":
		return c.Name + ": not checked, because " + c.Skipped
	case c.Want == "":
		return c.Name + ": " + c.Found
	case c.OK:
		return c.Name + ": " + c.Found + ", as wanted (" + c.Want + ")"
	}
	return c.Name + ": " + c.Found + ", but wanted is " + c.Want
}

// Failed gives the checks of a level that are not OK.
func (r *NodeReport) Failed(level NodeLevel) []NodeCheck {
	var all []NodeCheck
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
	return &Error{
		Code: EInvalid, Reason: "node_contract",
		Message: "The node " + node + " is not as services need it. " + strings.Join(what, "; ") + ".",
		Hint:    strings.Join(hints, " "),
	}
}
