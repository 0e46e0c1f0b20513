package app

import (
	"fmt"

	"muster/app/humanize"
)

// Act is what a person can do about an operation that is there.
type Act string

// The acts, and the states in which each is possible:
//
//	              waiting  running  paused  cancelling  failed*  cancelled*  succeeded
//	cancel           x        x       x
//	pause                     x
//	resume                            x                   x
//	retry a node**            x       x                   x
//	roll back                                             x         x
//
// * as long as nothing was asked of the cluster after it, and it isn't a command. A cluster can be deleted whatever its operations do.
// ** not of a command, which is run again on the nodes where it failed.
const (
	ActCancel    Act = "cancel"    // nothing new starts, what runs has to stop
	ActPause     Act = "pause"     // nothing new starts, what runs finishes
	ActResume    Act = "resume"    // continue from where it stopped
	ActRetryNode Act = "retry"     // retry what failed on one node only
	ActRollBack  Act = "roll_back" // undo what it has done
)

// Acts are what a person can do about the operation, as far as its state goes. Latest tells that no operation of the
// cluster came after it.
func (o Operation) Acts(latest bool) []Act {
	switch {
	case o.Status == OperationWaiting:
		return []Act{ActCancel}
	case o.Kind == OperationRun && o.Status.Ended(): // running it again asks again who may, and for approval
		return nil
	case o.Kind == OperationRun && o.Status == OperationRunning:
		return []Act{ActPause, ActCancel}
	case o.Kind == OperationRun && o.Status == OperationPaused:
		return []Act{ActResume, ActCancel}
	case o.Status == OperationRunning:
		return []Act{ActPause, ActCancel, ActRetryNode}
	case o.Status == OperationPaused:
		return []Act{ActResume, ActCancel, ActRetryNode}
	case !latest || o.Status == OperationCancelled && o.StartedAt.IsZero(): // nothing of it was done
		return nil
	case o.Status == OperationFailed && o.Kind.Undoable():
		return []Act{ActResume, ActRetryNode, ActRollBack}
	case o.Status == OperationFailed:
		return []Act{ActResume, ActRetryNode}
	case o.Status == OperationCancelled && o.Kind.Undoable():
		return []Act{ActRollBack}
	}
	return nil
}

// ServicesOnly tells an update that leaves the cluster as requested.
func (k OperationKind) ServicesOnly() bool {
	return k == OperationStart || k == OperationStop || k == OperationRestart || k == OperationCompare
}

// Undoable reports whether a rollback of such an operation makes sense: machines that were deleted stay deleted.
func (k OperationKind) Undoable() bool {
	return k != OperationDelete && k != OperationRollBack && k != OperationRepair && k != OperationCompare && k != OperationRun
}

// Verb is the act as used in a sentence: "you can roll it back".
func (a Act) Verb() string {
	switch a {
	case ActRetryNode:
		return "retry one of its nodes"
	case ActRollBack:
		return "roll it back"
	}
	return string(a) + " it"
}

// States say in a sentence how an operation is.
var States = map[OperationStatus]string{
	OperationWaiting:    "is waiting for the previous operation",
	OperationRunning:    "is running",
	OperationPaused:     "is paused",
	OperationCancelling: "is being cancelled",
	OperationSucceeded:  "has succeeded",
	OperationFailed:     "has failed",
	OperationCancelled:  "was cancelled",
}

// Refuse says why an act is not possible, and which are.
func (o Operation) Refuse(a Act, latest bool) *Error {
	e := &Error{Code: EConflict, Reason: "operation_" + string(o.Status),
		Message: fmt.Sprintf("%s %s, so you can't %s.", humanize.Upper(o.Kind.The()), States[o.Status], a.Verb())}
	acts := o.Acts(latest)
	switch {
	case a == ActRollBack && o.Kind == OperationRun:
		e.Message = "A command can't be rolled back."
	case a == ActRetryNode && o.Kind == OperationRun && !o.Status.Ended():
		e.Message = "A command can't be retried on one of its nodes."
		e.Hint = "Wait until it has ended, or cancel it. Then run it again on the nodes where it failed."
		return e
	case a == ActRollBack && !o.Kind.Undoable():
		e.Message = humanize.Upper(o.Kind.The()) + " can't be rolled back because deleted machines can't be restored."
	case a == ActRollBack && o.Status == OperationSucceeded && o.Kind == OperationCreate:
		e.Hint = "Delete the cluster instead."
		return e
	case a == ActRollBack && (o.Status == OperationRunning || o.Status == OperationPaused):
		e.Hint = "Cancel it, then roll it back."
		return e
	}
	switch {
	case o.Status == OperationCancelling:
		e.Hint = "Wait until it has been cancelled."
		if o.Kind.Undoable() {
			e.Hint = "Wait until it has been cancelled, then roll it back."
		}
	case o.Kind == OperationRun && o.Status.Ended():
		e.Hint = "Run the command again, on the nodes where it failed."
	case len(acts) > 0:
		verbs := make([]string, 0, len(acts))
		for _, a := range acts {
			if a != ActRetryNode || o.Status == OperationFailed { // else perhaps nothing has failed
				verbs = append(verbs, a.Verb())
			}
		}
		e.Hint = "You can " + humanize.Or(verbs) + "."
	case o.Status == OperationCancelled && latest:
		e.Hint = "You can delete the cluster."
	case o.Status.Ended() && !latest:
		e.Hint = "A later operation has changed the cluster. See that operation."
	}
	return e
}

// CancelsOwnRun reports whether someone may cancel an operation because it's a command that they have run themselves, on a cluster where they
// still may: others' operations are for owners.
func CancelsOwnRun(a Actor, o Operation, c Cluster) bool {
	return o.Kind == OperationRun && o.Requester == a.User && a.MayChange("RunCommand", c) == nil
}

// Allows reports whether an act is possible; its refusal says what is.
func (o Operation) Allows(a Act, latest bool) error {
	for _, possible := range o.Acts(latest) {
		if possible == a {
			return nil
		}
	}
	return o.Refuse(a, latest)
}
