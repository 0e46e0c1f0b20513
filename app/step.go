package app

import "time"

// StepState is the state of a step in the ledger.
type StepState string

// The states of a step. How they follow one another is drawn in package ledger. At most one step of a node is queued or
// running; the ledger has a unique index for it.
const (
	StepWaiting   StepState = "waiting"   // for the steps that it needs
	StepReady     StepState = "ready"     // needs are met; the node is busy or the back-off is not over
	StepQueued    StepState = "queued"    // a queue message has been or is about to be sent
	StepRunning   StepState = "running"   // claimed by a worker until Deadline
	StepAsked     StepState = "asked"     // a person is asked; no worker and no node is held
	StepSucceeded StepState = "succeeded" // done
	StepFailed    StepState = "failed"    // out of attempts, or not worth another
	StepDropped   StepState = "dropped"   // never to run: the operation was cancelled or deleted
)

// Words is the state as people read it.
func (s StepState) Words() string {
	switch s {
	case StepAsked:
		return "waiting for an answer"
	case StepDropped:
		return "skipped"
	}
	return string(s)
}

// Ended reports whether the step will not change by itself any more.
func (s StepState) Ended() bool {
	return s == StepSucceeded || s == StepFailed || s == StepDropped
}

// Step is a step of a plan in the ledger. Attempt counts the tries begun so far.
type Step struct {
	Operation int64         `json:"operation"`
	Index     int           `json:"index"`
	ID        string        `json:"id"`
	Node      string        `json:"node,omitempty"`
	Action    Action        `json:"action,omitempty"`
	Service   string        `json:"service,omitempty"`
	State     StepState     `json:"state"`
	Attempt   int           `json:"attempt"`
	Tries     int           `json:"-"` // attempts since the operation was last resumed
	Worker    string        `json:"worker,omitempty"`
	Needs     []int         `json:"needs,omitempty"`      // indexes, as in the plan; the first 100
	NeedsMore bool          `json:"needs_more,omitempty"` // there are more needs than are given
	Join      bool          `json:"join,omitempty"`
	Rank      time.Duration `json:"-"`
	Expected  time.Duration `json:"expected,omitempty"` // how long it takes, as its plan said
	ErrorCode Code          `json:"error_code,omitempty"`
	Error     string        `json:"error,omitempty"`
	StartedAt time.Time     `json:"started_at,omitzero"`
	EndedAt   time.Time     `json:"ended_at,omitzero"`
	NotBefore time.Time     `json:"not_before,omitzero"`
}

// Fence names one attempt of one step. Every write of a worker carries it; a write with an old fence changes nothing.
type Fence struct {
	Operation int64 `json:"operation"`
	Index     int   `json:"index"`
	Attempt   int   `json:"attempt"`
}
