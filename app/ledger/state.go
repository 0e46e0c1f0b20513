package ledger

import "muster/app"

// StepEvent is what may happen to a step.
type StepEvent string

// The events of a step.
const (
	needsMet    StepEvent = "needs met"     // all that it needs has succeeded
	joined      StepEvent = "joined"        // the same for a join, which has nothing to do
	nodeFree    StepEvent = "node free"     // it is the best ready step of a node that does nothing
	claimed     StepEvent = "claimed"       // by a worker, from the queue or together with the node's last step
	succeeded   StepEvent = "succeeded"     // so the worker says
	failedAgain StepEvent = "failed, again" // it is worth another attempt
	failedGood  StepEvent = "failed"        // for good: a person is to look at it
	claimLost   StepEvent = "claim lost"    // its worker was not heard of any more
	due         StepEvent = "due"           // its back-off is over
	cancelled   StepEvent = "cancelled"     // the operation was, or it let go after that
	paused      StepEvent = "paused"        // the operation was
	resumed     StepEvent = "resumed"       // a person wants it tried again
	asked       StepEvent = "asked"         // a person is
	answered    StepEvent = "answered"      // continue; also where no one said anything, and that is to mean so
	refusal     StepEvent = "refused"       // by the person, or no one answered in time
)

var stepTable = map[app.StepState]map[StepEvent]app.StepState{
	app.StepWaiting: {needsMet: app.StepReady, joined: app.StepSucceeded, cancelled: app.StepDropped},
	app.StepReady: {nodeFree: app.StepQueued, claimed: app.StepRunning, asked: app.StepAsked, due: app.StepReady,
		cancelled: app.StepDropped},
	app.StepQueued: {claimed: app.StepRunning, paused: app.StepReady, cancelled: app.StepDropped},
	app.StepRunning: {succeeded: app.StepSucceeded, failedAgain: app.StepReady, failedGood: app.StepFailed, claimLost: app.StepReady,
		cancelled: app.StepDropped},
	app.StepAsked:     {answered: app.StepSucceeded, refusal: app.StepFailed, paused: app.StepReady, cancelled: app.StepDropped},
	app.StepFailed:    {resumed: app.StepReady},
	app.StepSucceeded: {},
	app.StepDropped:   {},
}

// operationEvent is what may happen to an operation.
type operationEvent string

// The events of an operation.
const (
	started operationEvent = "started" // those before it on the same cluster have ended
	pause   operationEvent = "paused"
	resume  operationEvent = "resumed"
	cancel  operationEvent = "cancelled"
	done    operationEvent = "done"  // every step has succeeded
	stuck   operationEvent = "stuck" // nothing is ready, queued, running or asked, and not every step has succeeded
	// resumeNode takes up one node's failed steps again; it does not wake an operation that is paused.
	resumeNode operationEvent = "one node resumed"
)

var operationTable = map[app.OperationStatus]map[operationEvent]app.OperationStatus{
	app.OperationWaiting: {started: app.OperationRunning, cancel: app.OperationCancelled},
	app.OperationRunning: {pause: app.OperationPaused, cancel: app.OperationCancelling, done: app.OperationSucceeded, stuck: app.OperationFailed,
		resumeNode: app.OperationRunning},
	app.OperationPaused: {resume: app.OperationRunning, cancel: app.OperationCancelling, done: app.OperationSucceeded, stuck: app.OperationFailed,
		resumeNode: app.OperationPaused},
	app.OperationCancelling: {done: app.OperationSucceeded, stuck: app.OperationCancelled},
	app.OperationFailed:     {resume: app.OperationRunning, resumeNode: app.OperationRunning},
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

// Live reports whether a step keeps its operation going: it is ready, queued, running or asked.
func Live(s app.StepState) bool {
	return s == app.StepReady || s == app.StepQueued || s == app.StepRunning || s == app.StepAsked
}

// OnNode reports whether a step in this state has its node for itself: it is queued or running.
func OnNode(s app.StepState) bool { return s == app.StepQueued || s == app.StepRunning }
