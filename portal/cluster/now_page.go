package cluster

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/portal/page"
)

// Deletes says what a delete takes.
func (c Show) Deletes() string {
	n := len(c.Machines())
	if n == 0 {
		return "No machine was created. This can't be undone."
	}
	return fmt.Sprintf("This deletes %s and all data on %s. It can't be undone.", page.Count(n, "machine"), ItOrThem(n))
}

// MachinesSentence says what is there by now.
func (c Show) MachinesSentence() string {
	names := c.Machines()
	switch op := c.Current(); {
	case op.Kind == app.OperationDelete || op.Kind == app.OperationRollBack:
		return fmt.Sprintf("Machines already deleted can't be restored; %s left.", page.CountOf(len(names), "machine is", "machines are"))
	case len(names) == 0:
		return "No machine has been requested yet."
	}
	return fmt.Sprintf("%s requested so far: %s.", page.CountOf(len(names), "machine was", "machines were"), page.Few(names, 8))
}

// Undoable tells whether the operation that would be cancelled can be rolled back then.
func (c Show) Undoable() bool {
	stopped := *c.Current()
	stopped.Status = app.OperationCancelled
	for _, a := range stopped.Acts(true) {
		if a == app.ActRollBack {
			return true
		}
	}
	return false
}

// UndoneWords says what a roll-back of the operation leaves.
func (c Show) UndoneWords() string {
	if c.Current().Kind == app.OperationCreate {
		return "Deletes the machines created so far. Nothing of the cluster remains."
	}
	return "Restores configuration, services and nodes to how they were before."
}

func ItOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// goesOnSoon tells that the latest operation failed and is about to be gone on with by itself, or to be found not to.
func (c Show) goesOnSoon() bool {
	op := c.Operation()
	return op != nil && op.Status == app.OperationFailed && op.OnFailure.GoesOn() && c.Now.Sub(op.EndedAt) < 5*time.Second
}

// topUpWords say how what the cluster lacks stands.
func (c Show) topUpWords(u cluster.TopUp) string { return u.Words(c.View.Size, c.Now) + "." }
