package ledger

import (
	"time"

	"muster/app"
)

// Key names a step.
type Key struct {
	Operation int64
	Index     int
}

// Node names a node.
type Node struct{ Cluster, Name string }

// Edge says that the step To needs the step From, of the same operation.
type Edge struct {
	Operation int64
	From, To  int
}

// Step is a row of a step. NeedsLeft counts the steps that it needs and that have not succeeded.
type Step struct {
	app.Step
	NeedsLeft     int
	DurationKey   int64         // its kind, whose times are counted; 0: none
	Deadline      time.Time     // of the claim, or for an answer
	Queued        time.Time     // queued: since when it waits for a worker
	Dispatched    time.Time     // queued: when it was dispatched; zero is the outbox
	AskFor        time.Duration // for how long a person is asked; 0: a worker carries it out
	AcceptPartial bool          // it continues where no one answers in time; else it fails
	Epoch         int64         // of the claim that was just made; not kept
	Was           app.StepState
	changed       bool
}

// Key returns the step's name.
func (s *Step) Key() Key { return Key{s.Operation, s.Index} }

// Operation is a row of an operation with the ledger's own counts, which are always those of its steps.
type Operation struct {
	app.Operation
	Unfinished int   // steps, joins included, that have not succeeded
	Active     int   // ready, queued, running or asked: at 0 the operation ends
	Queued     int   // of those
	Running    int   // of those
	Claims     int64 // claims so far
	was        app.OperationStatus
	idle       bool // none of its steps was ready or asked when it was loaded
	changed    bool
}

// move counts a step from one state to another; "" is nowhere.
func (o *Operation) move(join bool, from, to app.StepState) {
	o.tally(join, from, -1)
	o.tally(join, to, 1)
	o.changed = true
}

func (o *Operation) tally(join bool, s app.StepState, n int) {
	if Live(s) {
		o.Active += n
	}
	switch s {
	case app.StepQueued:
		o.Queued += n
	case app.StepRunning:
		o.Running += n
	case app.StepSucceeded:
		o.Unfinished -= n
		if !join {
			o.Done += n
		}
	}
}

// Counts is what Operation counts.
type Counts struct{ Total, Done, Unfinished, Active, Queued, Running int }

// Counts returns the counts of an operation.
func (o *Operation) Counts() Counts {
	return Counts{o.Total, o.Done, o.Unfinished, o.Active, o.Queued, o.Running}
}

// epochs leaves room for four thousand million claims of an operation. Operations of a cluster run in the order of their
// numbers, so a later claim of a node always has a greater epoch, and none needs a row of its own to be drawn from.
const epochs = 1 << 32

func (o *Operation) epoch() int64 {
	o.Claims++
	o.changed = true
	return o.ID*epochs + o.Claims
}

// FarFuture is longer than any claim or back-off: a time that lies further ahead was written before the clock was set
// back, and counts as over.
const FarFuture = time.Hour

func far(t, now time.Time) bool { return t.After(now.Add(FarFuture)) }
