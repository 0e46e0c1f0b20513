package app

import "time"

// NewNode is a node of a new cluster. Intent names the machine that will be asked for.
type NewNode struct {
	Node    Node
	Intent  string
	HostKey []byte // private
	// NoPool says that its machine has to be created for it, such as with its volumes.
	NoPool bool
}

// ControlAct is what a person may do to an operation that is there.
type ControlAct string

// The acts.
const (
	ControlCancel ControlAct = "cancel" // nothing new starts, what runs has to stop; then it is cancelled
	ControlPause  ControlAct = "pause"  // nothing new starts, what runs finishes
	ControlResume ControlAct = "resume" // a failed one from its failed steps, a paused one from where it was
)

// Control is such an act. With Node only that node's failed steps are resumed.
type Control struct {
	Tenant    string
	Operation int64
	Act       ControlAct
	Node      string
	Who       string
	Why       string // for the audit and the operation's message; may be empty
	RollBack  bool   // with cancel: it is to be undone once it has stopped, as Operation.OnFailure says
	Now       time.Time
}
