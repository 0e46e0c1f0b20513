package ledger

import (
	"time"

	"muster/app"
)

// Wait is what something waits for. Until is when that ends at the latest, without anybody doing anything; zero where it
// is a person or another step that ends it, which then has a wait of its own.
type Wait struct {
	For   string
	Until time.Time
}

// StepWaitsFor says what a step waits for; "" where it has ended.
func StepWaitsFor(o *Operation, s *Step) Wait {
	switch {
	case s.State.Ended():
		return Wait{}
	case s.State == app.StepRunning:
		return Wait{"its worker, which must be heard of again until then", s.Deadline}
	case s.State == app.StepAsked:
		return Wait{"a person to answer", s.Deadline}
	case o.Status == app.OperationWaiting:
		return Wait{For: "the operation to begin"}
	case s.State == app.StepWaiting && s.NeedsLeft > 0:
		return Wait{For: "steps that it needs"}
	case o.Status == app.OperationPaused:
		return Wait{For: "a person to resume the operation"}
	case s.State == app.StepReady && !s.NotBefore.IsZero():
		return Wait{"its next attempt", s.NotBefore}
	case s.State == app.StepReady:
		return Wait{For: "another step of its node"}
	case s.State == app.StepQueued:
		return Wait{For: "a worker"}
	}
	return Wait{}
}

// OperationWaitsFor says what an operation waits for; "" where it has ended well.
func OperationWaitsFor(o *Operation) Wait {
	switch o.Status {
	case app.OperationWaiting:
		if !o.HeldUntil.IsZero() {
			return Wait{"the answers of hooks", o.HeldUntil}
		}
		return Wait{For: "the operation before it"}
	case app.OperationRunning:
		return Wait{For: "its steps"}
	case app.OperationPaused:
		return Wait{For: "a person to resume or cancel it"}
	case app.OperationCancelling:
		return Wait{For: "running steps to let go"}
	case app.OperationFailed, app.OperationCancelled:
		return Wait{For: "a person to resume it, roll it back or delete the cluster"}
	}
	return Wait{}
}

// Count counts steps again.
func Count(steps []Step) Counts {
	o := Operation{Unfinished: len(steps)}
	for _, s := range steps {
		if !s.Join {
			o.Total++
		}
		o.move(s.Join, "", s.State)
	}
	return o.Counts()
}
