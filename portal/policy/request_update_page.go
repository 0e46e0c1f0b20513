package policy

import "muster/app"

// beforeAndAfter writes a changed value as before → after.
func beforeAndAfter(before, after string) string {
	if before == after {
		return after
	}
	return before + " → " + after
}

// conditional reports whether a request can be approved with conditions.
func (s RequestShow) conditional() bool { return s.Kind == "" || s.Kind == app.OperationCreate }

// reasonHint says when a reason is required.
func (s RequestShow) reasonHint() string {
	if s.conditional() {
		return "Shown to " + s.Requester + ". Required to deny or to approve with conditions."
	}
	return "Shown to " + s.Requester + ". Required to deny."
}
