package app

import (
	"slices"
	"time"
)

// Trouble is what is wrong with a cluster that has failed, and what leads on from there: the one place that all faces show it from. It's
// worked out from rows alone, so that it costs next to nothing to look at.
type Trouble struct {
	// What says in a sentence or two what is wrong.
	What  string    `json:"what"`
	Since time.Time `json:"since"`
	// Operation is the one that didn't end well; 0 where machines were lost without one.
	Operation int64 `json:"operation,omitempty"`
	// Lost are the nodes whose machines are gone.
	Lost []string `json:"lost"`
	// Failures are the first steps that failed; MoreFailures counts the others.
	Failures     []TroubleStep `json:"failures"`
	MoreFailures int           `json:"more_failures,omitempty"`
	// CostPerHour is what the machines that are there cost meanwhile.
	CostPerHour float64 `json:"cost_per_hour"`
	// Ways are the ways on that can work with the machines that are there, the best first.
	Ways []Way `json:"ways"`
	// Soon says what happens next without anyone; "" for nothing.
	Soon string `json:"soon,omitempty"`
}

// TroubleStep is a step that failed.
type TroubleStep struct {
	Step  string `json:"step"`
	Node  string `json:"node,omitempty"`
	Error string `json:"error"`
}

// WayKind names a way on.
type WayKind string

// The ways on from a failure.
const (
	WayResume        WayKind = "resume"         // continue the operation from where it stopped
	WayRepair        WayKind = "repair"         // replace lost nodes and finish pending steps
	WayRollBack      WayKind = "roll_back"      // undo what the operation has done
	WayReconfigure   WayKind = "reconfigure"    // change the configuration and finish pending steps with it
	WayAcceptPartial WayKind = "accept_partial" // continue with the machines that were created
	WayWake          WayKind = "wake"           // start the machines and services of a cluster that is partly asleep
	WayDelete        WayKind = "delete"         // delete all machines
)

// Way is one of them, as it's shown.
type Way struct {
	Kind    WayKind `json:"kind"`
	Title   string  `json:"title"`   // of its button: "Repair cluster"
	Text    string  `json:"text"`    // what it does
	Command string  `json:"command"` // that does it: "muster cluster repair shop"
}

// Verb is the way as it stands in a sentence: "you can repair the cluster".
func (k WayKind) Verb() string {
	switch k {
	case WayResume:
		return "resume it"
	case WayRollBack:
		return "roll it back"
	case WayReconfigure:
		return "change the configuration"
	case WayAcceptPartial:
		return "accept fewer nodes"
	case WayWake:
		return "wake the cluster"
	}
	return string(k) + " the cluster"
}

// Power tells whether an operation puts machines to sleep or wakes them.
func (k OperationKind) Power() bool { return k == OperationSleep || k == OperationWake }

// Began is the word before the time of Since.
func (t Trouble) Began() string {
	if t.Operation == 0 {
		return "Noticed"
	}
	return "Stopped"
}

// offers tells whether a way is among those that lead on.
func (t *Trouble) offers(k WayKind) bool {
	return slices.ContainsFunc(t.Ways, func(w Way) bool { return w.Kind == k })
}
