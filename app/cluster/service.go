package cluster

import (
	"context"
	"muster/app"
	"muster/app/catalog"
	"muster/app/policy"
	"muster/app/resource"
	"muster/app/secret"
	"time"
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
	BuildOf(ctx context.Context, tenant, cluster string) (*app.ClusterBuild, error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	ClusterHealth(ctx context.Context, tenant string, cluster string) (*app.ClusterHealth, error)
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (app.ClusterSecrets, error)
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	CountClusters(ctx context.Context, tenant string, f app.ClusterFilter) (app.ClusterCounts, error)
	CreateCluster(ctx context.Context, n app.NewCluster) (app.Operation, error)
	DefinitionState(ctx context.Context, tenant string, cluster string) (string, error)
	Definitions(ctx context.Context, tenant string, cluster string) ([]app.Definition, error)
	Definition(ctx context.Context, tenant string, cluster string) (app.Definition, error)
	Events(ctx context.Context, tenant string, cluster string, after int64, limit int) ([]app.Event, error)
	Hooks(ctx context.Context, tenant string) ([]app.Hook, error)
	KeepRequest(ctx context.Context, n app.NewRequest) (app.Request, error)
	LeftBy(ctx context.Context, tenant string, cluster string, operation int64) (app.ClusterChange, error)
	Logs(ctx context.Context, tenant string, cluster string, f app.LogFilter) ([]app.LogLine, error)
	NextClusterNumber(ctx context.Context) (int64, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	NoteDeed(ctx context.Context, d app.Deed) error
	NoticesFor(ctx context.Context, tenant string, r *app.NoticeReader, before int64, limit int) ([]app.Notice, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Paces(ctx context.Context, kinds []app.PaceKey) (app.Paces, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	PoolStock(ctx context.Context, tenant string, shapes []string, now time.Time) ([]app.PoolStocked, error)
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n app.NewOperation) (app.Operation, error)
	TopUpOf(ctx context.Context, tenant string, cluster string) (*app.TopUp, error)
	Unfinished(ctx context.Context, tenant string, operation int64) (app.Unfinished, error)
	View(ctx context.Context, tenant string, id string) (app.ClusterView, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Service creates, previews, shows and compares clusters.
type Service struct {
	*app.App
	Store Store

	resources *resource.Service
	catalogs  *catalog.Service
	secrets   *secret.Service
	policies  *policy.Service

	Solving    solving
	preflights preflights
	faults     scriptFaults
	masks      masks
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, resources *resource.Service, catalogs *catalog.Service, secrets *secret.Service, policies *policy.Service) *Service {
	return &Service{App: a, Store: store, resources: resources, catalogs: catalogs, secrets: secrets, policies: policies}
}
