package app

import "muster/app/humanize"

// MayAcceptPartial refuses what is not a create or a growth that has failed, with nothing after it.
func (o Operation) MayAcceptPartial(latest bool) error {
	switch {
	case o.Kind != OperationCreate && o.Kind != OperationResize:
		return PartialUnacceptable("", "A partial result can be accepted only after creation or a resize, not after %s.", o.Kind.The())
	case !latest:
		return &Error{Code: EConflict, Reason: "not_the_latest", Message: "A later operation has changed the cluster.", Hint: "See the latest operation."}
	case o.Status != OperationFailed:
		e := AsError(PartialUnacceptable("", "%s %s, so there's no partial result to accept.", humanize.Upper(o.Kind.The()), States[o.Status]))
		if o.Status == OperationRunning || o.Status == OperationPaused {
			e.Hint = "Wait until the operation finishes. The missing machines may still be created."
		}
		return e
	}
	return nil
}
