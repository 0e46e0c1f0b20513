package app

import (
	"context"
	"time"
)

// What the database keeps is the only truth. Each method of the interfaces whose names end in Store, of Ledger and of Feed is one transaction: it happens as a
// whole or not at all. Errors are *Error (ENotFound, EConflict, EStale) or unexpected. Reads of a tenant's rows name the tenant; a row of another tenant is ENotFound.

// PeopleStore keeps accounts, tokens and the installation's own facts.
type PeopleStore interface {
	// Installation gives this installation's id, made when the store was first opened.
	Installation(ctx context.Context) (string, error)
	// CreateUser adds an account on behalf of nobody; EConflict where the name is taken. Its tenant comes to be with it.
	CreateUser(ctx context.Context, u User) error
	// SetPassword sets that of an account of the actor's tenant, and ends its tokens and sign-ins.
	SetPassword(ctx context.Context, who Actor, name, hash string, at time.Time) error
	// User gives an account with its groups, or ENotFound.
	User(ctx context.Context, tenant, name string) (User, error)
	CountUsers(ctx context.Context) (int, error)
	// ReplaceToken keeps a token's hash. The newest token of the same user and label replaces the older.
	ReplaceToken(ctx context.Context, who Actor, t Token, hash []byte) error
	// UserOfToken gives the token of a hash, with its account as it is now, or ENotFound.
	UserOfToken(ctx context.Context, hash []byte) (User, Token, error)
	// UsedToken notes when, and from which address, a token was last used, and that its user was there.
	UsedToken(ctx context.Context, t Token, at time.Time, from string) error
}

// Definition is the catalog as it was when a cluster was asked for, as far as that cluster needs it. Later changes of
// the catalog do not reach a running cluster. Provider settings, which may be secret, are not part of it.
type Definition struct {
	Lease  *Lease         `json:"lease,omitempty"` // the template's rules; nil of clusters from before they were kept
	Config map[string]any `json:"config,omitempty"`
	// Overrides is what was asked for beside the template's own configuration; a null takes a key of that out. Nil of clusters from
	// before it was kept apart.
	Overrides map[string]any `json:"overrides,omitzero"`
	Links     []Link         `json:"links,omitempty"`
	// Parameters are the values that were given; what the template set by default is in Config only.
	Parameters map[string]any `json:"parameters,omitempty"`
	Immutable  []string       `json:"immutable,omitempty"` // see Template
	// Template is the digest of the template that the cluster was made from; "" of clusters from before it was kept.
	Template string              `json:"template,omitempty"`
	Services map[string]*Service `json:"services"`
	Hardware map[string]Flavor   `json:"hardware"`
	Images   map[string]Image    `json:"images"`
	// Stopped are the services that somebody has stopped, by node; see IsStopped.
	Stopped map[string][]string `json:"stopped,omitempty"`
	Hooks   []OperationHook     `json:"hooks,omitempty"`  // the template's
	Health  *HealthPolicy       `json:"health,omitempty"` // the template's; nil: nobody looks
	// Survivors is what the template wants where not all machines come; nil: what was asked for fails.
	Survivors *Survivors `json:"survivors,omitempty"`
	Firewall  *Firewall  `json:"firewall,omitempty"` // the template's; nil: whatever the account does by itself
	Batches   *Person    `json:"batches,omitempty"`  // the template's; nil: nobody looks between batches
	// FallbackHardware lists, by hardware, what the machines of nodes may be made of instead, all of which stands in Hardware.
	FallbackHardware map[string][]string `json:"fallback_hardware,omitempty"`
}

// NewCluster is a cluster about to be accepted, with all that comes with it.
type NewCluster struct {
	Cluster    Cluster
	Definition Definition
	PublicKey  string
	PrivateKey []byte
	Nodes      []NewNode
	Operation  NewOperation
	Request    *NewRequest // that asked for it, where it is accepted at once; nil for none
	// Reservation is what it takes of quotas; where it names no tenant, it is worked out, with an owner who is in no groups.
	Reservation Reservation
	// OwnCatalog is the revision of the tenant's own entries that it was worked out by. EConflict, reason plan_changed, where the provider's
	// entry has changed since.
	OwnCatalog int64
	Build      *BuildClaim // that it is for, nil for none
}

// NewNode is a node of a new cluster. Intent names the machine that will be asked for.
type NewNode struct {
	Node    Node
	Intent  string
	HostKey []byte // private
}

// NewOperation is an operation about to be accepted. When another one of the same cluster has not ended, it waits;
// Cancel asks that one to stop first.
type NewOperation struct {
	Operation Operation
	Plan      Plan
	Cancel    bool
	// Change is what it makes of its cluster; nil for nothing but what its steps do.
	Change *ClusterChange
	// Follows is the cluster's latest operation when this one was planned; where another one has come since, or that one has
	// not ended, it is EConflict. 0 for no such condition.
	Follows int64
	// AsOf is, of a go-on, when what it goes on with had ended as it was planned: EConflict where that has run again since.
	AsOf time.Time
	// TopUp says that Muster asks for it by itself, to have all nodes that were wanted.
	TopUp bool
	// LeaseOver accepts it only where the cluster's lease has ended by then, and tells people: somebody may just have
	// moved the end.
	LeaseOver bool
}

// ClusterSecrets are the keys of a cluster.
type ClusterSecrets struct {
	PublicKey  string
	PrivateKey []byte
}

// ClusterStore keeps clusters and nodes.
type ClusterStore interface {
	// NextClusterNumber gives a number that no cluster has had.
	NextClusterNumber(ctx context.Context) (int64, error)
	// CreateCluster writes the cluster, its nodes, their intents, the operation with its plan, and an audit row.
	// EConflict where a live cluster of the tenant has the name. Where n.Request is set, it is kept too, and gets its number.
	CreateCluster(ctx context.Context, n NewCluster) (Operation, error)
	Cluster(ctx context.Context, tenant, id string) (Cluster, error)
	// View gives a cluster with its nodes and operations as they were at one moment. Links are left out.
	View(ctx context.Context, tenant, id string) (ClusterView, error)
	// Clusters gives them newest first, each with its latest operation.
	// It is ENotFound where f.After is none of the tenant's.
	Clusters(ctx context.Context, tenant string, f ClusterFilter) ([]ClusterSummary, error)
	// WaitingByProvider counts the steps of operations under way, of all tenants, that ask a provider for something, and are ready
	// for it but not at work.
	WaitingByProvider(ctx context.Context) (map[string]int, error)
	// CountClusters counts them by status, whatever the filter's own status, order and page.
	CountClusters(ctx context.Context, tenant string, f ClusterFilter) (ClusterCounts, error)
	// Nodes gives them in number order: those that the cluster has, is to have, or is giving back. Those that an operation which
	// has succeeded gave back are no part of it any more and left out, here as in View; receipts and reports keep their names.
	// So what has the status deleted is left of an operation that has not ended well, or the whole cluster is gone. A machine that is
	// made anew is planned again from when the old one was given back.
	Nodes(ctx context.Context, tenant, cluster string) ([]Node, error)
	Definition(ctx context.Context, tenant, cluster string) (Definition, error)
	// Definitions returns the definition as it is and as it was before each operation that changed it, the newest first, at most MaxDefinitions;
	// DefinitionState is a text that is another one whenever they are, and costs little.
	Definitions(ctx context.Context, tenant, cluster string) ([]Definition, error)
	DefinitionState(ctx context.Context, tenant, cluster string) (string, error)
	// DefinitionAt gives what the steps of an operation of the cluster are carried out by: the definition as that operation left
	// it, whatever later ones have made of it. Of one that changed nothing it is what was there at that time.
	DefinitionAt(ctx context.Context, tenant, cluster string, operation int64) (Definition, error)
	// LeftBy returns a cluster as an operation left it, or as it was at that time where the operation changed nothing: template, size, services,
	// cost and definition.
	LeftBy(ctx context.Context, tenant, cluster string, operation int64) (ClusterChange, error)
	// ChangeOf gives what an operation changed of its cluster: what was there before, and what it made of it. Nodes are the
	// services of those nodes that it changed or gave back, Leaving before are those that were being given back already.
	// A roll-back is a change to what was before, with the nodes that were new leaving. ENotFound where it changed nothing, or
	// where the cluster is gone.
	ChangeOf(ctx context.Context, tenant string, operation int64) (before, after ClusterChange, err error)
	ClusterSecrets(ctx context.Context, tenant, cluster string) (ClusterSecrets, error)
	// ExpiredClusters gives live clusters whose lease has ended before now and that are not being deleted, of all tenants.
	ExpiredClusters(ctx context.Context, now time.Time, limit int) ([]Cluster, error)
	// MarkLost sets an active cluster to failed with a message, because machines of it are gone; see OrphanStore.MarkFound. One that is asleep stays
	// so, and its owner is told each time.
	MarkLost(ctx context.Context, tenant, cluster, message string) error
}

// ClaimedStep is a step that was just claimed, with the rows that belong to it.
type ClaimedStep struct {
	Tenant   string
	Step     Step
	Deadline time.Time
	Cluster  Cluster
	Node     Node
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
	Worker WorkerID
	Now    time.Time
	For    time.Duration // how long the claims hold without a heartbeat
	Most   int           // 0 means 1
	Except []string      // sorted: providers whose steps the worker may not take
}

// Finished is what became of one Finish.
type Finished struct {
	Next *ClaimedStep
	Err  *Error // EStale
}

// ControlAct is what a person may do to an operation that is there.
type ControlAct string

// The acts.
const (
	ControlCancel ControlAct = "cancel" // nothing new starts, what runs is told to stop; then it is cancelled
	ControlPause  ControlAct = "pause"  // nothing new starts, what runs goes on to its end
	ControlResume ControlAct = "resume" // a failed one from its failed steps, a paused one from where it was
)

// Control is such an act. With Node only that node's failed steps are resumed.
type Control struct {
	Tenant    string
	Operation int64
	Act       ControlAct
	Node      string
	Who       string
	Why       string // for the audit and the operation's message; may be empty
	RollBack  bool   // with cancel: it is to be undone once it has stopped, as Operation.OnFailure says
	Now       time.Time
}

// Finish is the end of an attempt, as the ledger takes it.
type Finish struct {
	Fence    Fence
	Now      time.Time
	Err      *Error        // nil: succeeded
	Retry    Retry         // where Err is set
	Node     *NodeUpdate   // what to write on the node, on success
	ClaimFor time.Duration // > 0: claim the node's next step for that long
	Seen     []Seen        // what was come across at the provider, whether it ended well or not
	Unasked  bool          // a create that ended before it asked the provider for anything
	Pooled   bool          // its machine stood ready in a pool: how long it took is not learned
	// What was found out is kept in the same transaction, and takes the place of what was found before.
	Contract *NodeReport            // of the node
	Facts    map[string]AnswerValue // that the service told
	Changes  *Changes               // that its tool would make
	// Fallbacks is other hardware to ask for, of a create that failed because nothing was to be had: the first that no quota is in the way of.
	Fallbacks []HardwareFallback
}

// HardwareFallback lets the machine of a node be of other hardware. It is not taken by operations that make no nodes, nor where a quota does not allow it, or where the node
// has other hardware by now; then the attempt ends as if there were none.
type HardwareFallback struct {
	From, To  string
	InsteadOf string  // the hardware that the layout chose; "" where To is that
	CPU       float64 // of To
	// More is by how much per hour, and MoreCPU by how many cores, the cluster grows; below 0 where it shrinks.
	More, MoreCPU float64
	// Retry is what becomes of the attempt where it is taken, and Err how it ended; nil leaves it as it is.
	Retry Retry
	Err   *Error
}

// NodeUpdate changes a node. Empty fields stay as they are.
type NodeUpdate struct {
	Status  NodeStatus
	Machine *Machine
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
	SubmitOperation(ctx context.Context, n NewOperation) (Operation, error)
	// ControlOperation cancels, pauses or resumes an operation, as the state machine in app/ledger allows. EConflict in a
	// state that does not allow it, saying which would.
	ControlOperation(ctx context.Context, c Control) (Operation, error)
	// FailedDeletes gives, of all tenants, the deletes that failed and have since waited as long as they had been going on
	// for, but at least and at most so long. Those that another operation followed are left out.
	FailedDeletes(ctx context.Context, now time.Time, least, most time.Duration, limit int) ([]Operation, error)
	// OverdueDeletes gives, of all tenants, the deletions that are paused, and were not paused anew since then, of clusters whose
	// lease had ended by then.
	OverdueDeletes(ctx context.Context, then time.Time, limit int) ([]Operation, error)
	// PausedAt gives when somebody last paused an operation of the same cluster; the zero time where nobody did.
	PausedAt(ctx context.Context, o Operation) (time.Time, error)
	// RollBacksDue gives, of all tenants, the operations that failed or were cancelled, whose OnFailure is FailureRollBack, and
	// that no other operation has followed, oldest first.
	RollBacksDue(ctx context.Context, limit int) ([]Operation, error)
	Operations(ctx context.Context, tenant, cluster string) ([]Operation, error) // newest first
	Steps(ctx context.Context, tenant string, operation int64) ([]Step, error)   // in plan order, joins left out, with needs
	// Unfinished counts what an operation that has ended left undone, and returns the first steps that failed; see UnfinishedOf.
	Unfinished(ctx context.Context, tenant string, operation int64) (Unfinished, error)
	// StepsAndJoins gives them with the joins between, and all of their needs as they stand in the plan; what is undone goes by it.
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]Step, error)

	// ClaimSteps claims up to q.Most queued steps of the worker's tenant, the best first. Operations of a tenant take turns,
	// so that a huge one does not keep the others waiting; within one the greatest rank goes first. None is an empty list.
	ClaimSteps(ctx context.Context, q ClaimQuery) ([]*ClaimedStep, error)
	// HeldStep gives a step that the worker holds by this fence, with its cluster and node; EStale where it does not.
	HeldStep(ctx context.Context, w WorkerID, f Fence) (Step, Cluster, Node, error)
	// ToMake counts, by kind, the nodes whose machines an operation is to make now: those of create steps that have not ended, whose machine is not there and is
	// promised by no pool. Of an operation that also gives machines back, only those that wait for no other step; of one that goes on with as many machines as
	// come, none. Standing counts the nodes of the cluster that have a machine.
	ToMake(ctx context.Context, tenant string, operation int64) (kinds []NodeKind, standing int, err error)
	// ExtendClaims moves the deadlines of the fences that still hold.
	ExtendClaims(ctx context.Context, w WorkerID, held []Fence, now time.Time, claimFor time.Duration) ([]Directive, error)
	// FinishSteps ends attempts, each by itself and with all that its Finish holds, or not at all: outputs land on the node, successors become ready, free nodes get their
	// next step queued, and the operation and cluster move on when nothing is left. The answers are in the order of fs;
	// one of an old fence, or of another tenant's step, is EStale.
	FinishSteps(ctx context.Context, w WorkerID, fs []Finish) ([]Finished, error)
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

// Feed keeps what happened, for people to follow and replay.
type Feed interface {
	// Events gives a cluster's events after a number, oldest first.
	Events(ctx context.Context, tenant, cluster string, after int64, limit int) ([]Event, error)
	Logs(ctx context.Context, tenant, cluster string, f LogFilter) ([]LogLine, error)
	// AppendLogs adds lines of the tenant whose fence still holds; others are dropped.
	AppendLogs(ctx context.Context, tenant string, lines []LogLine) error
	// Watch returns a channel that gets a (coalesced) value whenever the topic wakes. Call stop, which may be done twice.
	Watch(topic Topic) (changed <-chan struct{}, stop func())
}
