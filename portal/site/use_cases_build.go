package site

import (
	"context"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	appcluster "muster/app/cluster"
	"muster/app/sshaccess"
)

// BuildHooks manages build hooks, for admins.
type BuildHooks interface {
	BuildSystems() []appbuild.System
	BuildHooks(ctx context.Context, a app.Actor) ([]appbuild.BuildHook, error)
	BuildHook(ctx context.Context, a app.Actor, name string) (appbuild.BuildHook, error)
	// SaveBuildHook creates or updates a hook, and returns a generated secret.
	SaveBuildHook(ctx context.Context, a app.Actor, r appbuild.BuildHookRequest) (appbuild.SavedBuildHook, error)
	DeleteBuildHook(ctx context.Context, a app.Actor, name string) error
	CheckBuildRules(ctx context.Context, a app.Actor, rules []appbuild.Rule) error
	TryBuild(ctx context.Context, a app.Actor, hook string, t appbuild.Trial) (appbuild.RuleTrialResult, error)
	BuildDeliveries(ctx context.Context, a app.Actor, hook string, before int64, limit int) ([]appbuild.DeliveryRecord, error)
	BuildDelivery(ctx context.Context, a app.Actor, hook string, id int64) (appbuild.DeliveryRecord, error)
	ReplayBuild(ctx context.Context, a app.Actor, hook string, id int64) (appbuild.DeliveryRecord, error)
}

// Builds shows and controls builds.
type Builds interface {
	BuildList(ctx context.Context, a app.Actor, f appbuild.Filter) ([]appbuild.Build, error)
	Build(ctx context.Context, a app.Actor, id int64) (appbuild.View, error)
	AwaitBuild(ctx context.Context, a app.Actor, id int64, wait time.Duration) (appbuild.View, error)
	EndBuild(ctx context.Context, a app.Actor, id int64) (appbuild.View, error)
	ExtendBuild(ctx context.Context, a app.Actor, id int64, by time.Duration) (appbuild.View, error)
}

// BuildCalls handles requests of build systems and builds, which have no account.
type BuildCalls interface {
	// Requests of build systems and builds, which have no account.
	IngestBuild(ctx context.Context, hook string, header func(string) string, body []byte, from string) (appbuild.IntakeResponse, error)
	AwaitBuildBy(ctx context.Context, k appbuild.Key, wait time.Duration) (appbuild.View, error)
	EndBuildBy(ctx context.Context, k appbuild.Key) (appbuild.View, error)
	ExtendBuildBy(ctx context.Context, k appbuild.Key, by time.Duration) (appbuild.View, error)
	BuildClusterBy(ctx context.Context, k appbuild.Key) (appcluster.View, error)
	BuildKeyBy(ctx context.Context, k appbuild.Key) (user string, pem []byte, err error)
	BuildCertificateBy(ctx context.Context, k appbuild.Key, publicKey string, ttl time.Duration) (sshaccess.ClusterCertificate, error)
}
