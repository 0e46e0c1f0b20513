package execution

import (
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/health"
	"muster/app/volume"
)

// ClaimedStep is a step that was just claimed, with the rows that belong to it.
type ClaimedStep struct {
	Tenant   string
	Step     app.Step
	Deadline time.Time
	Cluster  app.Cluster
	Node     app.Node
	Epoch    int64 // grows with every claim of the node
	Intent   string
	HostKey  []byte // private; for create, and for a confirm that may have to create another machine
	// Replacements are, of a confirm, the machines on record that were created for the node since the operation was last resumed and the step first tried.
	Replacements []string
	// Unasked says of a create that no attempt before this one can have asked the provider for the machine.
	Unasked bool
	TriedAt time.Time // when the first of its tries since the last resume began; zero where this is the first
	Err     error     // why it cannot be handed out; its attempt is to be ended
	Trace   string    // the operation's
}

// ClaimQuery asks for steps to carry out.
type ClaimQuery struct {
	Worker app.WorkerID
	Now    time.Time
	For    time.Duration // how long the claims hold without a heartbeat
	Most   int           // 0 means 1
	Except []string      // sorted: providers whose steps the worker may not take
}

// Finished is what happened to one Finish.
type Finished struct {
	Next *ClaimedStep
	Err  *app.Error // EStale
}

// Finish is the end of an attempt, as the ledger takes it.
type Finish struct {
	Fence    app.Fence
	Now      time.Time
	Err      *app.Error    // nil: succeeded
	Retry    app.Retry     // where Err is set
	Node     *NodeUpdate   // what to write on the node, on success
	ClaimFor time.Duration // > 0: claim the node's next step for that long
	Seen     []app.Seen    // what was come across at the provider, whether it ended well or not
	Unasked  bool          // a create that ended before it asked the provider for anything
	Pooled   bool          // its machine was ready in a pool: how long it took is not learned
	// Contract replaces what was found before, in the same transaction.
	Contract *health.NodeReport         // of the node
	Facts    map[string]app.AnswerValue // that the service reported
	Changes  *family.Changes            // that its tool would make
	Exit     *int                       // of its command; nil where it has none, or never ended
	Cut      bool                       // lines of its command's output were left out
	Volumes  []volume.Seen              // of the node, whether it ended well or not
	// Fallbacks is other hardware to ask for, of a create that failed because nothing was to be had: the first that no quota refuses.
	Fallbacks []appcluster.HardwareFallback
	// Image is what became known of a baked image; nil for nothing.
	Image *ImageReport
	// Keep is the machine of a confirm that failed, to be kept for inspection, as far as there is room for it; nil for none.
	Keep *appcluster.KeptMachine
}

// nodeUpdate changes a node. Empty fields stay as they are.
type NodeUpdate struct {
	Status  app.NodeStatus
	Machine *family.Machine
	HostKey string
	Deleted bool // the machine is proven to be gone: end its intent
	Owned   bool // only the cluster's own key opens the machine: forget that of the pool that it came from
}

// OutboxEntry tells a tenant's workers that a step is queued. It carries no more than ids.
type OutboxEntry struct {
	Tenant    string `json:"tenant"`
	Operation int64  `json:"operation"`
	Index     int    `json:"index"`
	Attempt   int    `json:"attempt"`
}
