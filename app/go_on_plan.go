package app

// MayGoOn refuses what is not a create or a growth that has failed, with nothing after it.
func (o Operation) MayGoOn(latest bool) error {
	switch {
	case o.Kind != OperationCreate && o.Kind != OperationResize:
		return NoGoOn("", "Only a create or a resize can be gone on with on fewer machines, not a %s.", o.Kind.Words())
	case !latest:
		return &Error{Code: EConflict, Reason: "not_the_latest", Message: "Something else was asked of the cluster after it.", Hint: "Look at that."}
	case o.Status != OperationFailed:
		e := NoGoOn("", "The %s %s, so there is nothing to go on with.", o.Kind.Words(), States[o.Status]).(*Error)
		if o.Status == OperationRunning || o.Status == OperationPaused {
			e.Hint = "Wait until it has ended. It may be that all machines come."
		}
		return e
	}
	return nil
}
