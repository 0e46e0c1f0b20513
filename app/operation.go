package app

import "time"

// OperationKind is what a person asked to be done with a cluster.
type OperationKind string

// The kinds of operation.
const (
	OperationCreate OperationKind = "create"
	OperationDelete OperationKind = "delete"
)

// OperationStatus is the state of an operation in one word.
type OperationStatus string

// The states of an operation. See Ended for the final ones.
const (
	OperationWaiting    OperationStatus = "waiting"    // for the operation before it on the same cluster
	OperationRunning    OperationStatus = "running"    // steps are ready or being carried out
	OperationCancelling OperationStatus = "cancelling" // no new step starts; running ones are told to stop
	OperationSucceeded  OperationStatus = "succeeded"
	OperationFailed     OperationStatus = "failed"
	OperationCancelled  OperationStatus = "cancelled"
)

// Ended tells whether nothing more will happen by itself.
func (s OperationStatus) Ended() bool {
	return s == OperationSucceeded || s == OperationFailed || s == OperationCancelled
}

// Operation is one thing that was asked of a cluster. Total and Done count steps that act (joins are left out).
type Operation struct {
	ID        int64           `json:"id"`
	Tenant    string          `json:"tenant"`
	Cluster   string          `json:"cluster"`
	Kind      OperationKind   `json:"kind"`
	Status    OperationStatus `json:"status"`
	PlanHash  string          `json:"plan_hash"`
	Requester string          `json:"requester"`
	Message   string          `json:"message,omitempty"`
	Total     int             `json:"steps_total"`
	Done      int             `json:"steps_done"`
	CreatedAt time.Time       `json:"created_at"`
	StartedAt time.Time       `json:"started_at,omitzero"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
	// Expected is the planner's estimate of the whole operation.
	Expected time.Duration `json:"expected"`
}
