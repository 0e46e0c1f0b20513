package execution

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/health"
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

// Finished is what became of one Finish.
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
	Pooled   bool          // its machine stood ready in a pool: how long it took is not learned
	// What was found out is kept in the same transaction, and takes the place of what was found before.
	Contract *health.NodeReport         // of the node
	Facts    map[string]app.AnswerValue // that the service told
	Changes  *family.Changes            // that its tool would make
	// Fallbacks is other hardware to ask for, of a create that failed because nothing was to be had: the first that no quota is in the way of.
	Fallbacks []appcluster.HardwareFallback
}

// NodeUpdate changes a node. Empty fields stay as they are.
type NodeUpdate struct {
	Status  app.NodeStatus
	Machine *family.Machine
	HostKey string
	Gone    bool // the machine is proven to be gone: end its intent
	Owned   bool // only the cluster's own key opens the machine: forget that of the pool that it came from
}

// Ledger keeps operations and steps, and moves them by the rules drawn in package ledger.
type Ledger interface {
	// SubmitOperation accepts an operation on a cluster that exists; EConflict where the cluster is gone. A cluster is
	// deleted once: a delete asked for while one waits or runs, or after one succeeded, gives that one. A roll-back is
	// EConflict unless what it undoes is the cluster's latest operation, has failed or was cancelled, and began to make no
	// machine that the roll-back's plan does not give back. Once a create is rolled back, the cluster is deleted.
	//
	// With a change it is EConflict, reason "operation_running" or "plan_changed", unless all before it have ended and n.Follows
	// is the latest of them, and EQuota where the cluster grows beyond a limit. The cluster's row, its new nodes and the services
	// of the others are written with it. Until it has succeeded, the greater of what was reserved before and after holds in each measure;
	// where it fails, until a roll-back or another amendment has. Nodes that leave are no part of the cluster once it has succeeded.
	SubmitOperation(ctx context.Context, n appcluster.NewOperation) (app.Operation, error)
	// ControlOperation cancels, pauses or resumes an operation, as the state machine in app/ledger allows. EConflict in a
	// state that does not allow it, saying which would.
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	// FailedDeletes gives, of all tenants, the deletes that failed and have since waited as long as they had been going on
	// for, but at least and at most so long. Those that another operation followed are left out.
	FailedDeletes(ctx context.Context, now time.Time, least, most time.Duration, limit int) ([]app.Operation, error)
	// OverdueDeletes gives, of all tenants, the deletions that are paused, and were not paused anew since then, of clusters whose
	// lease had ended by then.
	OverdueDeletes(ctx context.Context, then time.Time, limit int) ([]app.Operation, error)
	// PausedAt gives when somebody last paused an operation of the same cluster; the zero time where nobody did.
	PausedAt(ctx context.Context, o app.Operation) (time.Time, error)
	// RollBacksDue gives, of all tenants, the operations that failed or were cancelled, whose OnFailure is FailureRollBack, and
	// that no other operation has followed, oldest first.
	RollBacksDue(ctx context.Context, limit int) ([]app.Operation, error)
	Operations(ctx context.Context, tenant, cluster string) ([]app.Operation, error) // newest first
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)   // in plan order, joins left out, with needs
	// Unfinished counts what an operation that has ended left undone, and returns the first steps that failed; see UnfinishedOf.
	Unfinished(ctx context.Context, tenant string, operation int64) (appcluster.Unfinished, error)
	// StepsAndJoins gives them with the joins between, and all of their needs as they stand in the plan; what is undone goes by it.
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)

	// ClaimSteps claims up to q.Most queued steps of the worker's tenant, the best first. Operations of a tenant take turns,
	// so that a huge one does not keep the others waiting; within one the greatest rank goes first. None is an empty list.
	ClaimSteps(ctx context.Context, q ClaimQuery) ([]*ClaimedStep, error)
	// HeldStep gives a step that the worker holds by this fence, with its cluster and node; EStale where it does not.
	HeldStep(ctx context.Context, w app.WorkerID, f app.Fence) (app.Step, app.Cluster, app.Node, error)
	// ToMake counts, by kind, the nodes whose machines an operation is to make now: those of create steps that have not ended, whose machine is not there and is
	// promised by no pool. Of an operation that also gives machines back, only those that wait for no other step; of one that goes on with as many machines as
	// come, none. Standing counts the nodes of the cluster that have a machine.
	ToMake(ctx context.Context, tenant string, operation int64) (kinds []NodeKind, standing int, err error)
	// ExtendClaims moves the deadlines of the fences that still hold.
	ExtendClaims(ctx context.Context, w app.WorkerID, held []app.Fence, now time.Time, claimFor time.Duration) ([]Directive, error)
	// FinishSteps ends attempts, each by itself and with all that its Finish holds, or not at all: outputs land on the node, successors become ready,
	// free nodes get their
	// next step queued, and the operation and cluster move on when nothing is left. The answers are in the order of fs;
	// one of an old fence, or of another tenant's step, is EStale.
	FinishSteps(ctx context.Context, w app.WorkerID, fs []Finish) ([]Finished, error)
	// SweepSteps takes back claims that ran out, and queues ready steps whose time has come. It gives how many moved.
	SweepSteps(ctx context.Context, now time.Time) (int, error)
	// ReleaseClaims takes back every claim of workers whose name begins with prefix: their process is known to be gone.
	ReleaseClaims(ctx context.Context, prefix string, now time.Time) (int, error)
	// ReleaseWorkers is ReleaseClaims for workers by their whole names.
	ReleaseWorkers(ctx context.Context, names []string, now time.Time) (int, error)

	// Unrung gives queued steps whose doorbell is to be rung, in no order.
	Unrung(ctx context.Context, limit int) ([]Bell, error)
	// MarkRung notes that doorbells were rung.
	MarkRung(ctx context.Context, bells []Bell, now time.Time) error
	// Unheard counts, for each tenant, the queued steps whose bell was rung before then and that nobody claimed.
	Unheard(ctx context.Context, before time.Time) (map[string]int, error)
	// Unring forgets the tenant's bells rung before then, or those of all tenants where it is "": they are to be rung
	// again. It gives how many. A bell of a far future, rung before the clock was set back, counts as rung before.
	Unring(ctx context.Context, tenant string, before time.Time) (int, error)
	// Committed gives a channel that gets a (coalesced) value after every commit that may have queued steps.
	Committed() <-chan struct{}
}

// Bell tells a tenant's workers that a step is queued. It carries no more than ids.
type Bell struct {
	Tenant    string `json:"tenant"`
	Operation int64  `json:"operation"`
	Index     int    `json:"index"`
	Attempt   int    `json:"attempt"`
}
