package build

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/operation"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	// Of what others keep.
	Build(ctx context.Context, tenant string, id int64) (Build, error)
	BuildDeliveries(ctx context.Context, tenant string, hook string, before int64, limit int) ([]BuildTaken, error)
	BuildDelivery(ctx context.Context, tenant string, hook string, id int64) (d BuildTaken, uniq string, err error)
	BuildHook(ctx context.Context, tenant string, name string) (BuildHook, error)
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	BuildHooks(ctx context.Context, tenant string) ([]BuildHook, error)
	BuildTokenKey(ctx context.Context, id string) ([]byte, error)
	Builds(ctx context.Context, tenant string, f BuildFilter) ([]Build, error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	DeleteBuildHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	DueBuilds(ctx context.Context, now time.Time, limit int) (due []DueBuild, next time.Time, err error)
	EndBuild(ctx context.Context, who app.Actor, b Build, words string, now time.Time) error
	MoveBuild(ctx context.Context, b Build, notice *app.Notice, tell *app.BuildNews, now time.Time) (done bool, err error)
	MoveRequest(ctx context.Context, m cluster.RequestMove) (cluster.Request, error)
	NoteBuildRefused(ctx context.Context, id string, why string, now time.Time) error
	NoteBuildTaken(ctx context.Context, d BuildTaken) error
	NoteDeed(ctx context.Context, d app.Deed) error
	Request(ctx context.Context, tenant string, id int64) (cluster.Request, error)
	SaveBuildHook(ctx context.Context, who app.Actor, c BuildHookChange, now time.Time) (h BuildHook, made bool, err error)
	TakeBuild(ctx context.Context, o BuildOrder) (BuildDone, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
	View(ctx context.Context, tenant string, id string) (cluster.ClusterView, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error

	Catalogs *catalog.Service
	Hooks    *webhook.Service
	Clusters *cluster.Finder
	Views    *cluster.Views
	Creates  *cluster.Creates
	Deletes  *cluster.Deletes
	Access   *cluster.Access
	Leases   *operation.Leases

	// Builds understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Builds     BuildSystems
	BuildRules BuildRuleEngine
}

// Service takes what build systems send, and creates clusters for builds.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
