package app

import (
	"fmt"
	"slices"
)

// RefusePower says why a cluster cannot sleep, or wake, as it is.
func (c Cluster) RefusePower(kind OperationKind, ops []Operation) *Error {
	cannot := "be " + kind.Verb()
	if kind == OperationWake {
		cannot = "be woken"
	}
	e := &Error{Code: EConflict, Reason: "cluster_" + string(c.Status)}
	switch c.Status {
	case ClusterDeleted:
		e.Message = fmt.Sprintf("Cluster %q was deleted.", c.Name)
	case ClusterPending:
		e.Reason, e.Message = "operation_running", fmt.Sprintf("Cluster %q is being changed, so it can't %s.", c.Name, cannot)
		if i := slices.IndexFunc(ops, func(o Operation) bool { return !o.Status.Ended() && o.Status != OperationWaiting }); i >= 0 {
			e.Message = fmt.Sprintf("Cluster %q can't %s: %s %s.", c.Name, cannot, ops[i].Kind.The(), States[ops[i].Status])
		}
		e.Hint = "Wait until the operation finishes, or cancel it."
	case ClusterFailed:
		e.Message = fmt.Sprintf("Cluster %q has failed, so it can't %s.", c.Name, cannot)
		e.Hint = "See what you can do instead: muster cluster show " + c.Name
	default:
		e.Message = fmt.Sprintf("Cluster %q is %s, so it can't %s.", c.Name, c.Status, cannot)
	}
	return e
}
