package operation

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/resource"
	"muster/app/schedule"
	"muster/app/template"
)

// Store is what the service needs of the database.
type Store interface {
	ChangesStore
	GoOnStore
	LeaseStore

	// Of what others keep.
	Accounts(ctx context.Context) ([]app.Account, error)
	// ChangeOf gives what an operation changed of its cluster: what was there before, and what it made of it. Nodes are the
	// services of those nodes that it changed or gave back, Leaving before are those that were being given back already.
	// A roll-back is a change to what was before, with the nodes that were new leaving. ENotFound where it changed nothing, or
	// where the cluster is gone.
	ChangeOf(ctx context.Context, tenant string, operation int64) (before cluster.ClusterChange, after cluster.ClusterChange, err error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	ClusterSchedule(ctx context.Context, tenant string, cluster string) (schedule.ClusterSchedule, error)
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	DefinitionAt(ctx context.Context, tenant string, cluster string, operation int64) (cluster.Definition, error)
	DueSchedules(ctx context.Context, now time.Time, limit int) ([]schedule.ScheduleDue, error)
	KeepRequest(ctx context.Context, n cluster.NewRequest) (cluster.Request, error)
	KeptRequest(ctx context.Context, tenant string, id int64) (cluster.Kept, error)
	LastNode(ctx context.Context, tenant string, cluster string) (int, error)
	MoveRequest(ctx context.Context, m cluster.RequestMove) (cluster.Request, error)
	MoveSchedule(ctx context.Context, d schedule.ScheduleDue, until time.Time, due time.Time, n app.Notice) (bool, error)
	NodeReports(ctx context.Context, tenant string, cluster string, node string, limit int) ([]health.NodeReport, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	NoteTopUp(ctx context.Context, n TopUpNote) (bool, error)
	OpenRequestsBare(ctx context.Context, tenant string, after int64, limit int) ([]cluster.Request, error)
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]template.OperationHook, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	OverdueDeletes(ctx context.Context, then time.Time, limit int) ([]app.Operation, error)
	PausedAt(ctx context.Context, o app.Operation) (time.Time, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	ReadableRequest(ctx context.Context, r app.ClusterReader, id int64) (cluster.Request, error)
	Request(ctx context.Context, tenant string, id int64) (cluster.Request, error)
	Requests(ctx context.Context, tenant string, f cluster.RequestFilter) ([]cluster.Request, error)
	RequestsDue(ctx context.Context, now time.Time, limit int) ([]cluster.Request, error)
	RequestsNumbered(ctx context.Context, tenant string, ids []int64) ([]cluster.Request, error)
	RollBacksDue(ctx context.Context, limit int) ([]app.Operation, error)
	SetSchedule(ctx context.Context, c schedule.ScheduleChange) error
	SetTopUp(ctx context.Context, c TopUpChange) error
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n cluster.NewOperation) (app.Operation, error)
	TopUpsDue(ctx context.Context, now time.Time, limit int) ([]TopUpDue, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
	WorkerKey(ctx context.Context) ([]byte, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store   Store
	Now     func() time.Time
	Keys    app.Keys
	Changer layout.Changer // nil: no cluster can be amended
	// DryRuns tells whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool
	// Sleeps tells whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps func(kind string) bool

	Resources  *resource.Service
	Catalogs   *catalog.Service
	WorkerKeys *identity.WorkerKeys
	Policies   *policy.Service
	Clusters   *cluster.Finder
	Masks      *cluster.Masks
	Plans      *cluster.Plans
	Preflight  *cluster.Preflight
	Views      *cluster.Views
	Creates    *cluster.Creates
	Solving    *cluster.SolveLimit

	// LeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultLeaseGrace.
	LeaseGrace time.Duration
}

// Service changes clusters that exist: updates, repairs, roll-backs, sleep, schedules and leases.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
