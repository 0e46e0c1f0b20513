package ledger

import (
	"fmt"
	"time"

	"muster/app"
)

// Needed says which steps of an operation an act must find in the set, besides the operation: those in these states, of
// one node where it names one. None is for acts that move all steps alike.
func Needed(c app.Control) []app.StepState {
	if c.Act == app.ControlResume {
		return []app.StepState{app.StepFailed, app.StepReady}
	}
	return nil
}

// Control carries out a person's act. What it moves in bulk (see Bulk) is to be saved before the set; "" is nothing.
// Later is an operation of the same cluster that has been begun after this one, or is to be; nil for none. EConflict where the state does not allow
// the act, with what would.
func (s *Set) Control(o *Operation, c app.Control, later *Operation) (bulk StepEvent, err error) {
	switch c.Act {
	case app.ControlCancel, app.ControlPause:
		if c.Node != "" {
			return "", &app.Error{Code: app.EInvalid, Field: "node", Message: fmt.Sprintf("You can't %s a single node.", c.Act),
				Hint: fmt.Sprintf("Omit the node to %s the whole operation.", c.Act)}
		}
		return s.stop(o, c)
	case app.ControlResume:
		return "", s.resume(o, c, later)
	}
	return "", &app.Error{Code: app.EInvalid, Field: "act", Message: fmt.Sprintf("Unknown action %q.", c.Act),
		Hint: "Use cancel, pause or resume."}
}

func (s *Set) stop(o *Operation, c app.Control) (StepEvent, error) {
	event, bulk, text := cancel, cancelled, "Cancelled"
	if c.Act == app.ControlPause {
		event, bulk, text = pause, paused, "Paused"
	}
	if err := allowed(o, event, c.Act); err != nil {
		return "", err
	}
	s.turn(o, event)
	o.Message = because(text, c.Who, c.Why)
	// What Bulk moves is not loaded; its counts follow from what they mean.
	if event == cancel {
		o.Active = o.Running
		if c.RollBack || o.OnFailure == app.FailureAcceptPartialOrRollBack {
			o.OnFailure = app.FailureRollBack
		}
		if o.StartedAt.IsZero() {
			o.OnFailure = app.FailureLeave // there is nothing to undo
		}
	}
	o.Queued = 0
	return bulk, nil
}

// because words who did something, and why where that is known.
func because(what, who, why string) string {
	if why == "" {
		return fmt.Sprintf("%s by %s.", what, who)
	}
	return fmt.Sprintf("%s by %s: %s", what, who, why)
}

func (s *Set) resume(o *Operation, c app.Control, later *Operation) error {
	event := resume
	if c.Node != "" {
		event = resumeNode
	}
	if err := allowed(o, event, c.Act); err != nil {
		return err
	}
	if later != nil && o.Status.Ended() {
		return &app.Error{Code: app.EConflict, Reason: "not_the_latest",
			Message: fmt.Sprintf("Operation %d can't be resumed because operation %d (%s) has changed the cluster since.", o.ID, later.ID, later.Kind),
			Hint:    "Only the latest operation of a cluster can be resumed."}
	}
	paused := o.Status == app.OperationPaused
	failed := 0
	var again []*Step
	for _, st := range s.of(o.ID) {
		switch {
		case st.State == app.StepFailed && (!paused || c.Node != "") && (c.Node == "" || c.Node == st.Node):
			failed++
			s.fire(st, resumed)
			st.Tries, st.NotBefore, st.EndedAt = 0, time.Time{}, time.Time{}
			again = append(again, st)
		case st.State == app.StepReady && paused && c.Node == "":
			again = append(again, st)
		}
	}
	if c.Node != "" && failed == 0 {
		return app.Errorf(app.EConflict, "Node %s has no failed step in operation %d.", c.Node, o.ID)
	}
	s.turn(o, event)
	for _, st := range again {
		s.offer(st)
	}
	if o.Status == app.OperationRunning {
		o.Message = ""
	}
	return nil
}

// allowed words why an operation does not take an act, and what would.
func allowed(o *Operation, e operationEvent, act app.ControlAct) error {
	if _, ok := operationTable[o.Status][e]; ok {
		return nil
	}
	err := &app.Error{Code: app.EConflict, Reason: "operation_" + string(o.Status),
		Message: fmt.Sprintf("Operation %d %s, so you can't %s it.", o.ID, app.States[o.Status], act)}
	switch act {
	case app.ControlCancel:
		err.Hint = "Only a waiting, running or paused operation can be cancelled."
	case app.ControlPause:
		err.Hint = "Only a running operation can be paused."
	case app.ControlResume:
		err.Hint = "Only a failed or paused operation can be resumed."
		if e == resumeNode {
			err.Hint = "A node can only be retried while its operation is running, paused or failed."
		}
	}
	return err
}
