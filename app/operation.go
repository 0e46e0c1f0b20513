package app

import (
	"cmp"
	"fmt"
	"time"
)

// OperationKind is what a person asked to be done with a cluster.
type OperationKind string

// The kinds of operation.
const (
	OperationCreate OperationKind = "create"
	OperationDelete OperationKind = "delete"
	// OperationRollBack undoes what another operation, which did not succeed, has done.
	OperationRollBack OperationKind = "roll_back"
	// OperationAcceptPartial finishes a create or a growth, of which not all machines came, with those that did.
	OperationAcceptPartial OperationKind = "accept_partial"

	// What is requested of an existing cluster; see Update.
	OperationResize         OperationKind = "resize"
	OperationAddServices    OperationKind = "add_services"
	OperationRemoveServices OperationKind = "remove_services"
	OperationReconfigure    OperationKind = "reconfigure"
	OperationStart          OperationKind = "start"
	OperationStop           OperationKind = "stop"
	OperationRestart        OperationKind = "restart"
	OperationUpgrade        OperationKind = "upgrade" // to the template and the services as the catalog has them now
	OperationRepair         OperationKind = "repair"
	OperationCompare        OperationKind = "compare" // what services' tools would change on nodes; nothing is done
	OperationRun            OperationKind = "run"     // a command on nodes

	// All machines of a cluster are stopped, and started again.
	OperationSleep OperationKind = "sleep"
	OperationWake  OperationKind = "wake"
)

// Updates are the kinds of update.
var Updates = []OperationKind{OperationResize, OperationAddServices, OperationRemoveServices, OperationReconfigure, OperationStart, OperationStop,
	OperationRestart, OperationUpgrade, OperationRepair, OperationCompare, OperationRun}

// OperationStatus is the state of an operation in one word.
type OperationStatus string

// The states of an operation. See Ended for the final ones.
const (
	OperationWaiting    OperationStatus = "waiting"    // for the operation before it on the same cluster
	OperationRunning    OperationStatus = "running"    // steps are ready or being carried out
	OperationPaused     OperationStatus = "paused"     // no new step starts; running ones finish
	OperationCancelling OperationStatus = "cancelling" // no new step starts; running ones have to stop
	OperationSucceeded  OperationStatus = "succeeded"
	OperationFailed     OperationStatus = "failed"
	OperationCancelled  OperationStatus = "cancelled"
)

// Ended reports whether nothing more will happen by itself.
func (s OperationStatus) Ended() bool {
	return s == OperationSucceeded || s == OperationFailed || s == OperationCancelled
}

// FailureChoice is what the one who asks wants to happen by itself when an operation fails or is cancelled.
type FailureChoice string

// The choices. Whatever was chosen, a person can still resume, roll back or delete.
const (
	FailureLeave    FailureChoice = ""          // leave all as it is, for a person to look at
	FailureRollBack FailureChoice = "roll_back" // undo what the operation has done
	// FailureAcceptPartial accepts the machines that came, where only machines are missing and the template's constraints hold without
	// them; else all is left as it is. It is for creates and growths. A cancelled operation is left as it is.
	FailureAcceptPartial FailureChoice = "accept_partial"
	// FailureAcceptPartialOrRollBack is the same, but rolls back instead of leaving all as it is.
	FailureAcceptPartialOrRollBack FailureChoice = "accept_partial_or_roll_back"
	// FailureStay says FailureLeave where the template would have it otherwise. It is not kept.
	FailureStay FailureChoice = "leave"
)

// Operation is one thing that was asked of a cluster. Total and Done count steps that act (joins are left out).
type Operation struct {
	ID        int64           `json:"id"`
	Tenant    string          `json:"tenant"`
	Cluster   string          `json:"cluster"`
	Kind      OperationKind   `json:"kind"`
	Status    OperationStatus `json:"status"`
	PlanHash  string          `json:"plan_hash"`
	OnFailure FailureChoice   `json:"on_failure,omitempty"`
	RollsBack int64           `json:"rolls_back,omitempty"` // of a rollback: the operation that it undoes
	// Accepts is, of an accepted partial result, the operation that it ends.
	Accepts int64 `json:"accepts_partial_of,omitempty"`
	// MinAvailable is, where it is to be gone on with by itself, with how many nodes at the least; 0: as many as the constraints want.
	MinAvailable int `json:"min_available,omitempty"`
	// NoBackfill says that the nodes which are missing after an accepted partial result are not asked for again later.
	NoBackfill bool   `json:"no_backfill,omitempty"`
	Requester  string `json:"requester"`
	Message    string `json:"message,omitempty"`
	// HeldUntil is when the operation waits for the answers of hooks until, at the latest; zero where it waits for none.
	HeldUntil time.Time `json:"held_until,omitzero"`
	Total     int       `json:"steps_total"`
	Done      int       `json:"steps_done"`
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Expected is the planner's estimate of the whole operation. Expects says more; its Typical is the same.
	Expected time.Duration `json:"expected"`
	Expects  Expectation   `json:"expects,omitzero"`
	// Trace is the traceparent of the request that it comes from, as TraceOf the context gave it to the store; "" for none.
	Trace string `json:"-"`
}

// Power reports whether an operation puts machines to sleep or wakes them.
func (k OperationKind) Power() bool { return k == OperationSleep || k == OperationWake }

// EndsCluster tells an operation at whose end the cluster is gone, or that is tried until it is; latest says that nothing has
// come after it.
func (o Operation) EndsCluster(latest bool) bool {
	return (o.Kind == OperationDelete || o.Kind == OperationRollBack) && (!o.Status.Ended() || o.Status == OperationFailed && latest)
}

// PartialUnacceptable refuses to accept a partial result.
func PartialUnacceptable(hint, format string, args ...any) error {
	return &Error{Code: EConflict, Reason: "partial_unacceptable", Message: fmt.Sprintf(format, args...), Hint: hint}
}

// UseCase is whose permission an update of the kind needs.
func (k OperationKind) UseCase() string {
	switch {
	case k == OperationRun:
		return "RunCommand"
	case k.ServicesOnly():
		return "UpdateServices"
	}
	return "Update"
}

// AskedHardware is the hardware that the layout chose for a node. Its machine may be of other hardware; see Template.FallbackHardware.
func (n Node) AskedHardware() string { return cmp.Or(n.InsteadOf, n.Hardware) }

// GrowsNodes tells of operations that make machines for nodes which have had none: only these may be of other hardware than the layout
// chose. A node that is made again has its price already, and its like.
func (k OperationKind) GrowsNodes() bool {
	switch k {
	case OperationCreate, OperationResize, OperationAddServices, OperationAcceptPartial:
		return true
	}
	return false
}

// GivesBack reports whether an operation is there to give machines back. Hooks are notified of it, but nothing of them is run on
// its nodes, which may not answer any more, and no missing answer keeps it.
func (k OperationKind) GivesBack() bool { return k == OperationDelete || k == OperationRollBack }

// RunsScripts reports whether scripts can be run on the nodes of such an operation: where machines are given back, stopped or started
// they may not answer, and a command is not a change of the cluster.
func (k OperationKind) RunsScripts() bool {
	return !k.GivesBack() && k != OperationRun && k != OperationSleep && k != OperationWake
}
