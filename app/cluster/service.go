package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/health"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/template"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	HomeStore
	IdempotencyStore
	LifeStore
	RetentionStore
	SharingStore

	// Of what others keep.
	// BuildOf returns the build that a cluster was created for, and nil where there is none.
	BuildOf(ctx context.Context, tenant, cluster string) (*ClusterBuild, error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	ClusterHealth(ctx context.Context, tenant string, cluster string) (*health.ClusterHealth, error)
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (ClusterSecrets, error)
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	CountClusters(ctx context.Context, tenant string, f app.ClusterFilter) (app.ClusterCounts, error)
	CreateCluster(ctx context.Context, n NewCluster) (app.Operation, error)
	DefinitionState(ctx context.Context, tenant string, cluster string) (string, error)
	Definitions(ctx context.Context, tenant string, cluster string) ([]Definition, error)
	Definition(ctx context.Context, tenant string, cluster string) (Definition, error)
	Events(ctx context.Context, tenant string, cluster string, after int64, limit int) ([]app.Event, error)
	Hooks(ctx context.Context, tenant string) ([]webhook.Hook, error)
	KeepRequest(ctx context.Context, n NewRequest) (Request, error)
	LeftBy(ctx context.Context, tenant string, cluster string, operation int64) (ClusterChange, error)
	Logs(ctx context.Context, tenant string, cluster string, f LogFilter) ([]app.LogLine, error)
	NextClusterNumber(ctx context.Context) (int64, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	NoteDeed(ctx context.Context, d app.Deed) error
	NoticesFor(ctx context.Context, tenant string, r *app.NoticeReader, before int64, limit int) ([]app.Notice, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Paces(ctx context.Context, kinds []plan.PaceKey) (plan.Paces, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	PoolStock(ctx context.Context, tenant string, shapes []string, now time.Time) ([]PoolStocked, error)
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n NewOperation) (app.Operation, error)
	TopUpOf(ctx context.Context, tenant string, cluster string) (*TopUp, error)
	Unfinished(ctx context.Context, tenant string, operation int64) (Unfinished, error)
	View(ctx context.Context, tenant string, id string) (ClusterView, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store   Store
	Solver  layout.Solver
	Planner plan.Planner
	Now     func() time.Time
	Keys    app.Keys
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts Accounts
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *template.ScriptFault
	Explainer   layout.Explainer // nil: refusals are not explained further
	// Firewalls tells whether a type of provider makes firewalls for clusters; nil: not known, and no one is warned.
	Firewalls func(kind string) bool
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool

	Resources *resource.Service
	Catalogs  *catalog.Service
	Secrets   *secret.Service
	Policies  *policy.Service
}

// Service creates, previews, shows and compares clusters.
type Service struct {
	Config

	Solving    solving
	preflights preflights
	faults     scriptFaults
	masks      masks
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
