package execution

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/observe"
	"muster/app/plan"
	"muster/app/providervalue"
	"muster/app/quarantine"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/template"
	"muster/app/volume"
)

// StepStore keeps steps, and what workers hold and say of them.
type StepStore interface {
	AppendLogs(ctx context.Context, tenant string, lines []app.LogLine) error
	// ClaimSteps claims up to q.Most queued steps of the worker's tenant, the best first. Operations of a tenant take turns,
	// so that a huge one does not keep the others waiting; within one the greatest rank goes first. None is an empty list.
	ClaimSteps(ctx context.Context, q ClaimQuery) ([]*ClaimedStep, error)
	// ExtendClaims moves the deadlines of the fences that still hold.
	ExtendClaims(ctx context.Context, w app.WorkerID, held []app.Fence, now time.Time, claimFor time.Duration) ([]Directive, error)
	// FinishSteps ends attempts, each by itself and with all that its Finish holds, or not at all: outputs land on the node, successors become ready,
	// free nodes get their
	// next step queued, and the operation and cluster move on when nothing is left. The answers are in the order of fs;
	// one of an old fence, or of another tenant's step, is EStale.
	FinishSteps(ctx context.Context, w app.WorkerID, fs []Finish) ([]Finished, error)
	// HeldStep returns a step that the worker holds by this fence, with its cluster and node; EStale where it does not.
	HeldStep(ctx context.Context, w app.WorkerID, f app.Fence) (app.Step, app.Cluster, app.Node, error)
	HoldBlobs(ctx context.Context, tenant string, provisioner string, hashes []string, at time.Time) error
	Provisioner(ctx context.Context, id string) (app.Provisioner, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
	WorkQueued(ctx context.Context, tenant string, except []string, before time.Time) (bool, error)
}

// CheckBatchStore keeps which batches of health checks are due.
type CheckBatchStore interface {
	// ClaimCheckBatch returns the check batch that has been due longest; nil for none. Clusters that are not to be looked at now (an operation
	// is running, they sleep) are put off until their next turn.
	ClaimCheckBatch(ctx context.Context, q CheckBatchQuery) (*ClaimedCheckBatch, error)
	// EndCheckBatch keeps what a check batch has found. EStale where it is not the worker's any more.
	EndCheckBatch(ctx context.Context, o CheckBatchOutcome) error
	// MarkInterrupted notes which nodes' machines their cloud takes away; newly are those of which it wasn't known.
	MarkInterrupted(ctx context.Context, tenant, cluster string, all []app.Interruption, now time.Time) (newly []string, err error)
	// HealthDue tells for whom check batches are due. It costs one look into an index.
	HealthDue(ctx context.Context, now time.Time) (HealthDue, error)
}

// InputStore knows what steps and checks are worked out from.
type InputStore interface {
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (cluster.Secrets, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	DefinitionAt(ctx context.Context, tenant string, cluster string, operation int64) (cluster.Definition, error)
	Installation(ctx context.Context) (string, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	// OperationHooks returns the hooks whose scripts an operation runs.
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]template.OperationHook, error)
	// RunOf returns the command that an operation runs; ENotFound where it runs none.
	RunOf(ctx context.Context, tenant string, operation int64) (plan.Run, error)
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
	// MachinesToCreate counts, by kind, the nodes whose machines an operation is to make now: those of create steps that have not ended, whose
	// machine is not there and is promised by no pool. Of an operation that also returns machines, only those that wait for no other step; of
	// one that accepts as many machines as come, none. Existing counts the nodes of the cluster that have a machine.
	MachinesToCreate(ctx context.Context, tenant string, operation int64) (kinds []NodeKind, standing int, err error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Steps    StepStore
	Rounds   CheckBatchStore
	Inputs   InputStore
	Now      func() time.Time
	Catalogs *catalog.Service
	Values   *providervalue.Service // nil: users set nothing of providers
	// Meter counts what happens; nil: nothing is counted.
	Meter observe.Meter
	// DryRuns reports whether an automator can say what it would change; nil: none can.
	DryRuns   func(automator string) bool
	Resources *resource.Service
	Secrets   *secret.Service

	Volumes volume.StepStore
	// VolumesFirst reports whether machines of a type of provider only have the volumes that they are created with; nil: they get them later.
	VolumesFirst func(kind string) bool

	Facts       *Facts
	ManualSteps *ManualSteps
	// Keeping works out what is kept of machines that don't come up; nil: nothing is.
	Keeping *quarantine.Drafts
}

// Service hands out steps to workers and takes their reports.
type Service struct {
	Config

	configs configCache
	rounds  checkBatchSignal
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
