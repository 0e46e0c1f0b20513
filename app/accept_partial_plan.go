package app

// MayAcceptPartial refuses what is not a create or a growth that has failed, with nothing after it.
func (o Operation) MayAcceptPartial(latest bool) error {
	switch {
	case o.Kind != OperationCreate && o.Kind != OperationResize:
		return PartialUnacceptable("", "Only a create or resize can be accepted with fewer nodes, not a %s.", o.Kind.Text())
	case !latest:
		return &Error{Code: EConflict, Reason: "not_the_latest", Message: "A later operation has changed the cluster.", Hint: "See the latest operation."}
	case o.Status != OperationFailed:
		e := AsError(PartialUnacceptable("", "The %s %s, so there's no partial result to accept.", o.Kind.Text(), States[o.Status]))
		if o.Status == OperationRunning || o.Status == OperationPaused {
			e.Hint = "Wait until the operation finishes. The missing machines may still be created."
		}
		return e
	}
	return nil
}
