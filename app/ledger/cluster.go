package ledger

import (
	"fmt"

	"muster/app"
)

// After is what happens to a cluster.
type After struct {
	Status  app.ClusterStatus
	Message string
}

// ClusterAfter returns what an operation that has ended makes of its cluster; false where it changes nothing, because it never
// began. Of a rollback, undone is the kind of what it undoes, and nodesLeft how many nodes have a machine, or may have: a create
// that is undone leaves nothing, anything else leaves a cluster.
func ClusterAfter(o *Operation, undone app.OperationKind, nodesLeft int) (After, bool) {
	switch {
	case o.StartedAt.IsZero() && o.Kind == app.OperationCreate && !o.HeldUntil.IsZero():
		return After{app.ClusterDeleted, o.Message}, true // it waited for a hook, and nothing was made
	case o.StartedAt.IsZero():
		return After{}, false
	case o.Kind == app.OperationRun: // whatever the command said, the cluster is what it was
		return After{Status: app.ClusterActive}, true
	case o.Status == app.OperationSucceeded && o.Kind == app.OperationDelete,
		o.Status == app.OperationSucceeded && o.Kind == app.OperationRollBack && undone == app.OperationCreate && nodesLeft == 0:
		return After{Status: app.ClusterDeleted}, true
	case o.Status == app.OperationSucceeded && (o.Kind == app.OperationSleep || o.Kind == app.OperationRollBack && undone == app.OperationWake):
		return After{Status: app.ClusterAsleep}, true
	case o.Status == app.OperationSucceeded:
		return After{Status: app.ClusterActive}, true
	case o.Status == app.OperationFailed && o.Kind == app.OperationDelete:
		return After{app.ClusterFailed, o.Message + " Deletion is retried automatically."}, true
	case o.Status == app.OperationFailed && o.Kind == app.OperationRollBack:
		return After{app.ClusterFailed, o.Message + " The rollback is retried automatically."}, true
	default:
		return After{app.ClusterFailed, o.Message}, true
	}
}

// CheckUndo reports whether an operation can be rolled back. Later is one of the same cluster that was begun after it, or is
// to be; nil for none.
func CheckUndo(o, later *Operation) error {
	switch {
	case later != nil:
		return &app.Error{Code: app.EConflict, Reason: "not_the_latest",
			Message: fmt.Sprintf("Operation %d can't be rolled back because operation %d (%s) has changed the cluster since.", o.ID, later.ID, later.Kind)}
	case o.Status == app.OperationFailed || o.Status == app.OperationCancelled:
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "operation_" + string(o.Status),
		Message: fmt.Sprintf("Operation %d %s, so it can't be rolled back.", o.ID, app.States[o.Status]),
		Hint:    "Cancel the operation first. Only failed and cancelled operations can be rolled back."}
}

// Turn orders operations that have equally many steps running, the smallest first: what returns machines, then what is
// short.
func Turn(o app.Operation) int {
	if o.Kind == app.OperationDelete || o.Kind == app.OperationRollBack {
		return 0
	}
	return o.Total
}
