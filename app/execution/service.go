package execution

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/observe"
	"muster/app/operation"
	"muster/app/resource"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	OperationHookStore
	FactStore
	QuestionStore
	WaitingStore

	// Of what others keep.
	// AppendLogs adds lines of the tenant whose fence still holds; others are dropped.
	AppendLogs(ctx context.Context, tenant string, lines []app.LogLine) error
	CheckHealth(ctx context.Context, r CheckRequest) error
	ClaimRound(ctx context.Context, q RoundQuery) (*ClaimedRound, error)
	ClaimSteps(ctx context.Context, q ClaimQuery) ([]*ClaimedStep, error)
	ClusterHealth(ctx context.Context, tenant string, cluster string) (*health.ClusterHealth, error)
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (cluster.ClusterSecrets, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	// DefinitionAt gives what the steps of an operation of the cluster are carried out by: the definition as that operation left
	// it, whatever later ones have made of it. Of one that changed nothing it is what was there at that time.
	DefinitionAt(ctx context.Context, tenant string, cluster string, operation int64) (cluster.Definition, error)
	EndRound(ctx context.Context, o RoundOutcome) error
	ExtendClaims(ctx context.Context, w app.WorkerID, held []app.Fence, now time.Time, claimFor time.Duration) ([]Directive, error)
	FinishSteps(ctx context.Context, w app.WorkerID, fs []Finish) ([]Finished, error)
	HealthDue(ctx context.Context, now time.Time) (HealthDue, error)
	HeldStep(ctx context.Context, w app.WorkerID, f app.Fence) (app.Step, app.Cluster, app.Node, error)
	HoldBlobs(ctx context.Context, tenant string, provisioner string, hashes []string, at time.Time) error
	Installation(ctx context.Context) (string, error)
	Logs(ctx context.Context, tenant string, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	NodeReports(ctx context.Context, tenant string, cluster string, node string, limit int) ([]health.NodeReport, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	NoteRepair(ctx context.Context, n RepairNote) error
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Provisioner(ctx context.Context, id string) (app.Provisioner, error)
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	RepairsDue(ctx context.Context, now time.Time, limit int) ([]RepairDue, error)
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	ToMake(ctx context.Context, tenant string, operation int64) (kinds []NodeKind, standing int, err error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
	WorkQueued(ctx context.Context, tenant string, except []string, before time.Time) (bool, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// Meter counts what happens; nil: nothing is counted.
	Meter observe.Meter
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	Tries       func(app.Code) int // how often a step is tried whose attempts fail with a code; 0: not known

	Resources     *resource.Service
	Catalogs      *catalog.Service
	Secrets       *secret.Service
	Clusters      *cluster.Finder
	Masks         *cluster.Masks
	Preflight     *cluster.Preflight
	Views         *cluster.Views
	Operations    *operation.Finder
	Updates       *operation.Updates
	PausedDeletes *operation.PausedDeletes
	// DryRuns tells whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool

	// What people are told of why something waits; nil: not known, or for Workers what the provisioners say.
	Workers Workforce
	Budgets Budgets
}

// Service hands out steps to workers and takes their reports, and tells why something waits.
type Service struct {
	Config

	configs configCache
	rounds  roundBell
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
