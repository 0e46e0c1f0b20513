package ledger

import "muster/app"

// StepEvent is what may happen to a step.
type StepEvent string

// The events of a step.
const (
	NeedsMet    StepEvent = "needs met"     // all that it needs has succeeded
	Joined      StepEvent = "joined"        // the same for a join, which has nothing to do
	NodeFree    StepEvent = "node free"     // it is the best ready step of a node that does nothing
	Claimed     StepEvent = "claimed"       // by a worker, from the queue or together with the node's last step
	Succeeded   StepEvent = "succeeded"     // so the worker says
	FailedAgain StepEvent = "failed, again" // it is worth another attempt
	FailedGood  StepEvent = "failed"        // for good: a person is to look at it
	ClaimLost   StepEvent = "claim lost"    // its worker was not heard of any more
	Due         StepEvent = "due"           // its back-off is over
	Cancelled   StepEvent = "cancelled"     // the operation was, or it let go after that
	Paused      StepEvent = "paused"        // the operation was
	Resumed     StepEvent = "resumed"       // a person wants it tried again
	Asked       StepEvent = "asked"         // a person is
	Answered    StepEvent = "answered"      // go on; also where nobody said anything, and that is to mean so
	Refused     StepEvent = "refused"       // by the person, or nobody answered in time
)

var stepTable = map[app.StepState]map[StepEvent]app.StepState{
	app.StepWaiting: {NeedsMet: app.StepReady, Joined: app.StepSucceeded, Cancelled: app.StepDropped},
	app.StepReady: {NodeFree: app.StepQueued, Claimed: app.StepRunning, Asked: app.StepAsked, Due: app.StepReady,
		Cancelled: app.StepDropped},
	app.StepQueued: {Claimed: app.StepRunning, Paused: app.StepReady, Cancelled: app.StepDropped},
	app.StepRunning: {Succeeded: app.StepSucceeded, FailedAgain: app.StepReady, FailedGood: app.StepFailed, ClaimLost: app.StepReady,
		Cancelled: app.StepDropped},
	app.StepAsked:     {Answered: app.StepSucceeded, Refused: app.StepFailed, Paused: app.StepReady, Cancelled: app.StepDropped},
	app.StepFailed:    {Resumed: app.StepReady},
	app.StepSucceeded: {},
	app.StepDropped:   {},
}

// OperationEvent is what may happen to an operation.
type OperationEvent string

// The events of an operation.
const (
	Started OperationEvent = "started" // those before it on the same cluster have ended
	Pause   OperationEvent = "paused"
	Resume  OperationEvent = "resumed"
	Cancel  OperationEvent = "cancelled"
	Done    OperationEvent = "done"  // every step has succeeded
	Stuck   OperationEvent = "stuck" // nothing is ready, queued, running or asked, and not every step has succeeded
	// ResumeNode takes up one node's failed steps again; it does not wake an operation that is paused.
	ResumeNode OperationEvent = "one node resumed"
)

var operationTable = map[app.OperationStatus]map[OperationEvent]app.OperationStatus{
	app.OperationWaiting: {Started: app.OperationRunning, Cancel: app.OperationCancelled},
	app.OperationRunning: {Pause: app.OperationPaused, Cancel: app.OperationCancelling, Done: app.OperationSucceeded, Stuck: app.OperationFailed,
		ResumeNode: app.OperationRunning},
	app.OperationPaused: {Resume: app.OperationRunning, Cancel: app.OperationCancelling, Done: app.OperationSucceeded, Stuck: app.OperationFailed,
		ResumeNode: app.OperationPaused},
	app.OperationCancelling: {Done: app.OperationSucceeded, Stuck: app.OperationCancelled},
	app.OperationFailed:     {Resume: app.OperationRunning, ResumeNode: app.OperationRunning},
	app.OperationSucceeded:  {},
	app.OperationCancelled:  {},
}

// Bulk tells which steps of an operation an event moves all at once, and to which states: those of the table, except
// running ones, which move when their worker has let go.
func Bulk(e StepEvent) map[app.StepState]app.StepState {
	moves := map[app.StepState]app.StepState{}
	for from, events := range stepTable {
		if to, ok := events[e]; ok && from != app.StepRunning {
			moves[from] = to
		}
	}
	return moves
}

// Live tells whether a step keeps its operation going: it is ready, queued, running or asked.
func Live(s app.StepState) bool {
	return s == app.StepReady || s == app.StepQueued || s == app.StepRunning || s == app.StepAsked
}

// OnNode tells whether a step in this state has its node for itself: it is queued or running.
func OnNode(s app.StepState) bool { return s == app.StepQueued || s == app.StepRunning }
