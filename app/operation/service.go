package operation

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/resource"
)

// Store is what the service needs of the database.
type Store interface {
	ChangesStore
	GoOnStore
	LeaseStore

	// Of what others keep.
	Accounts(ctx context.Context) ([]app.Account, error)
	ChangeOf(ctx context.Context, tenant string, operation int64) (before app.ClusterChange, after app.ClusterChange, err error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	ClusterSchedule(ctx context.Context, tenant string, cluster string) (app.ClusterSchedule, error)
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	Definition(ctx context.Context, tenant string, cluster string) (app.Definition, error)
	DefinitionAt(ctx context.Context, tenant string, cluster string, operation int64) (app.Definition, error)
	DueSchedules(ctx context.Context, now time.Time, limit int) ([]app.ScheduleDue, error)
	KeepRequest(ctx context.Context, n app.NewRequest) (app.Request, error)
	KeptRequest(ctx context.Context, tenant string, id int64) (app.Kept, error)
	LastNode(ctx context.Context, tenant string, cluster string) (int, error)
	MoveRequest(ctx context.Context, m app.RequestMove) (app.Request, error)
	MoveSchedule(ctx context.Context, d app.ScheduleDue, until time.Time, due time.Time, n app.Notice) (bool, error)
	NodeReports(ctx context.Context, tenant string, cluster string, node string, limit int) ([]app.NodeReport, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	NoteTopUp(ctx context.Context, n app.TopUpNote) (bool, error)
	OpenRequestsBare(ctx context.Context, tenant string, after int64, limit int) ([]app.Request, error)
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]app.OperationHook, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	OverdueDeletes(ctx context.Context, then time.Time, limit int) ([]app.Operation, error)
	PausedAt(ctx context.Context, o app.Operation) (time.Time, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	ReadableRequest(ctx context.Context, r app.ClusterReader, id int64) (app.Request, error)
	Request(ctx context.Context, tenant string, id int64) (app.Request, error)
	Requests(ctx context.Context, tenant string, f app.RequestFilter) ([]app.Request, error)
	RequestsDue(ctx context.Context, now time.Time, limit int) ([]app.Request, error)
	RequestsNumbered(ctx context.Context, tenant string, ids []int64) ([]app.Request, error)
	RollBacksDue(ctx context.Context, limit int) ([]app.Operation, error)
	SetSchedule(ctx context.Context, c app.ScheduleChange) error
	SetTopUp(ctx context.Context, c app.TopUpChange) error
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n app.NewOperation) (app.Operation, error)
	TopUpsDue(ctx context.Context, now time.Time, limit int) ([]app.TopUpDue, error)
	User(ctx context.Context, tenant string, name string) (app.User, error)
	WorkerKey(ctx context.Context) ([]byte, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store   Store
	Now     func() time.Time
	Changer app.Changer // nil: no cluster can be amended
	// DryRuns tells whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool
	// Sleeps tells whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps func(kind string) bool

	Resources *resource.Service
	Catalogs  *catalog.Service
	People    *identity.Service
	Policies  *policy.Service
	Clusters  *cluster.Service

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
