package execution

import (
	"context"
	"slices"
	"time"

	"muster/app"
)

// WaitReason says in one word what a step or an operation waits for.
type WaitReason string

// The reasons.
const (
	WaitSteps     WaitReason = "steps"     // for other steps of the same plan
	WaitNode      WaitReason = "node"      // its node is busy with another step
	WaitBackOff   WaitReason = "back_off"  // an attempt failed, and the next one is not due yet
	WaitBudget    WaitReason = "budget"    // the rate budget of the provider account is empty
	WaitSlots     WaitReason = "slots"     // every slot of the tenant is busy
	WaitWorkers   WaitReason = "workers"   // no worker is connected that could take it
	WaitTurn      WaitReason = "turn"      // it is about to be taken
	WaitPaused    WaitReason = "paused"    // someone paused the operation
	WaitOperation WaitReason = "operation" // for the operation before it on the same cluster
	WaitHook      WaitReason = "hook"      // for the answer of a hook
	WaitPerson    WaitReason = "person"    // for someone's answer
	WaitMachine   WaitReason = "machine"   // a step is at work, and waits for a machine to come up
)

// OfOthers reports whether the wait can change without an event of its own cluster: with the steps of other clusters, or with the workers.
func (r WaitReason) OfOthers() bool {
	switch r {
	case WaitBudget, WaitSlots, WaitWorkers, WaitTurn:
		return true
	}
	return false
}

// Wait is a step that waits, and why.
type Wait struct {
	Step    string        `json:"step"`
	Node    string        `json:"node"`
	Action  app.Action    `json:"action"`
	Service string        `json:"service,omitempty"`
	State   app.StepState `json:"state"`
	Reason  WaitReason    `json:"reason"`
	Text    string        `json:"text"` // for people: "n1.db.start is running"
	// Position counts from 1 in the order in which the tenant's queued steps will be taken; 0 where it is not queued yet.
	Position int       `json:"position,omitempty"`
	Until    time.Time `json:"until,omitzero"` // where it is known when the wait is over at the earliest
	For      []string  `json:"for,omitempty"`  // ids of the steps that it waits for, the first few
}

// WaitGroup is many steps that wait for the same.
type WaitGroup struct {
	Reason WaitReason `json:"reason"`
	Text   string     `json:"text"`
	Count  int        `json:"count"`
	Oldest time.Time  `json:"oldest,omitzero"` // of a tenant's queue: when the oldest operation among them was asked for
	Until  time.Time  `json:"until,omitzero"`  // where it is known when the first of them continues at the earliest
	Last   time.Time  `json:"last,omitzero"`   // and the last of them
}

// Waiting is why an operation is not further: what waits, by reason, and step by step as far as there was room.
type Waiting struct {
	Cluster   string              `json:"cluster"`
	Operation int64               `json:"operation"` // 0: nothing is running
	Kind      app.OperationKind   `json:"kind,omitempty"`
	Status    app.OperationStatus `json:"status,omitempty"`
	Text      string              `json:"text"` // the whole in a sentence
	Running   int                 `json:"running"`
	Total     int                 `json:"total"` // steps that wait
	Groups    []WaitGroup         `json:"groups"`
	Steps     []Wait              `json:"steps"`          // in plan order
	Next      int                 `json:"next,omitempty"` // ask for more from this number of the plan on; 0: there is no more
}

// WaitingFilter narrows Waiting. The zero value is the first 50 steps of all nodes.
type WaitingFilter struct {
	Node  string
	Step  string
	From  int // only steps from this number of the plan on; from Waiting.Next
	Limit int // 0: 50; at most 500
}

// How many steps one answer explains.
const (
	someWaits = 50
	mostWaits = 500
)

// Workforce tells who could carry out a tenant's steps.
type Workforce interface {
	Workforce(ctx context.Context, tenant string) (WorkerCount, error)
}

// WorkerCount is what a tenant has of workers at the moment. Lacks says, where there are none, what would be needed, such
// as a provisioner with the tags region=eu; it may be empty.
type WorkerCount struct {
	Workers int    `json:"workers"`
	Slots   int    `json:"slots"` // steps at the same time, of all workers together
	Lacks   string `json:"lacks,omitempty"`
}

// Budgets tells for how long the rate budget of a provider account is empty; 0 where it is not.
type Budgets interface {
	BudgetWait(ctx context.Context, account string) (time.Duration, error)
}

// WaitingRows are rows for Waiting.
type WaitingRows struct {
	Groups  []WaitingCount     // the most frequent first, at most 100
	Steps   []app.Step         // the page, in plan order
	More    bool               // there are more behind the page
	Example []app.Step         // the first step of each of Groups
	Needs   map[int][]app.Step // by index of Steps and Example: what has not succeeded of what they need, at most 4 and one more
	Busy    map[string]app.Step
	Place   map[int]int // by index of queued steps of the page: how many of the same operation go first
	Running int         // steps of the operation that are at work
	Arrives []app.Step  // of these the first few that wait for a machine to come up
}

// queued reports whether any of the operation's steps is in the queue.
func (r WaitingRows) queued() bool {
	return slices.ContainsFunc(r.Groups, func(g WaitingCount) bool { return g.State == app.StepQueued }) ||
		slices.ContainsFunc(r.Steps, func(s app.Step) bool { return s.State == app.StepQueued })
}

// WaitingCount counts steps of an operation that wait in the same way. Code is set where they wait out a back-off, with the moments at
// which the first and the last of them are due.
type WaitingCount struct {
	State   app.StepState
	Action  app.Action
	Service string
	Code    app.Code
	Until   time.Time
	Last    time.Time
	Count   int
}

// QueueRows are rows for Queue.
type QueueRows struct {
	Lines    []QueueLine
	More     int // operations beyond those
	BackOffs []WaitingCount
	Asked    int // steps that wait for a person
}

// QueueLine is an operation in its tenant's queue.
type QueueLine struct {
	Operation int64               `json:"operation"`
	Cluster   string              `json:"cluster"`
	Name      string              `json:"name"`
	Kind      app.OperationKind   `json:"kind"`
	Status    app.OperationStatus `json:"status"`
	Requester string              `json:"requester"`
	CreatedAt time.Time           `json:"created_at"`
	Running   int                 `json:"running"` // steps that a worker holds
	Queued    int                 `json:"queued"`  // steps that the next free worker takes
	Ready     int                 `json:"ready"`   // steps that wait for their node or a back-off
	Waiting   int                 `json:"waiting"` // steps that wait for others
	Done      int                 `json:"done"`
	Total     int                 `json:"total"`
	Turn      int                 `json:"-"` // of operations that have equally many steps running, the smallest goes first
	Reason    WaitReason          `json:"reason,omitempty"`
	Text      string              `json:"text,omitempty"` // what keeps it, where something does
}
