package policy

import "muster/app"

// beforeAndAfter says a value once where it stays, else as it was and as it will be.
func beforeAndAfter(before, after string) string {
	if before == after {
		return after
	}
	return before + " → " + after
}

// conditional tells whether an approver can offer something else than was asked for.
func (s RequestShow) conditional() bool { return s.Kind == "" || s.Kind == app.OperationCreate }

// reasonHint says when a reason is needed.
func (s RequestShow) reasonHint() string {
	if s.conditional() {
		return s.Requester + " reads it. Needed to deny, and for conditions."
	}
	return s.Requester + " reads it. Needed to deny."
}
