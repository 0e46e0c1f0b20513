package bot

import (
	"context"
	"reflect"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/idle"
	"muster/app/lease"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/run"
	"muster/app/template"
)

// UseCases are the use cases that the bot calls, by noun. All of them must be set. Every method may be called from several goroutines;
// errors are *app.Error if they mean something to people.
type UseCases struct {
	People      People
	Catalogs    Catalogs
	Clusters    Clusters
	Activity    Activity
	Deletes     Deletes
	Creates     Creates
	Updates     Updates
	Runs        Runs
	Operations  Operations
	RollBacks   RollBacks
	Leases      Leases
	Idle        Idle
	Requests    Requests
	ManualSteps ManualSteps
	Queues      Queues
	Quotas      Quotas
	Orphans     Orphans
	Workspaces  Workspaces
	Channels    Channels
	Homes       Homes
}

// Check panics if one isn't set, which is a wiring mistake.
func (u UseCases) Check() {
	for v, i := reflect.ValueOf(u), 0; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			panic("bot: the use cases of " + v.Type().Field(i).Name + " are not set: see cmd/muster/wiring/faces, and the fakes of tests")
		}
	}
}

type (
	// People finds a chat user's account.
	People interface {
		// LinkStart returns the path of a one-time link that links a chat user to an account.
		LinkStart(ctx context.Context, kind, external, label string) (app.Subject, error)
		// ActorOfIdentity returns a chat user's account; EUnauthorized, reason "not_linked", if there is none.
		ActorOfIdentity(ctx context.Context, kind, external string) (app.Actor, error)
	}
	// Catalogs are the templates that clusters are created from.
	Catalogs interface {
		Catalog(ctx context.Context, a app.Actor) (*template.Catalog, error)
	}
	// Clusters shows clusters.
	Clusters interface {
		Clusters(ctx context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error)
		Cluster(ctx context.Context, a app.Actor, id string) (cluster.View, error)
	}
	// Activity shows clusters' steps and logs.
	Activity interface {
		Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
		Logs(ctx context.Context, a app.Actor, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	}
	// Deletes deletes clusters.
	Deletes interface {
		DeleteCluster(ctx context.Context, a app.Actor, id string) (cluster.View, error)
	}
	// Creates previews new clusters, and creates them or requests approval.
	Creates interface {
		Preview(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Preview, error)
		Ask(ctx context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error)
	}
	// Updates changes clusters.
	Updates interface {
		PreviewUpdate(ctx context.Context, a app.Actor, cluster string, m cluster.Update) (cluster.UpdatePreview, error)
		Update(ctx context.Context, a app.Actor, cluster string, m cluster.Update) (cluster.UpdateAnswer, error)
	}
	// Runs shows the actions of a cluster's template, and how they ended. Running one is an update.
	Runs interface {
		Run(ctx context.Context, a app.Actor, cluster string, operation int64) (run.View, error)
		Actions(ctx context.Context, a app.Actor, cluster string) ([]run.Action, error)
	}
	// Operations resumes failed operations, and cancels running ones.
	Operations interface {
		CancelOperation(ctx context.Context, a app.Actor, cluster string, operation int64, rollBack bool) (cluster.View, error)
		ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (cluster.View, error)
	}
	// RollBacks rolls back failed operations.
	RollBacks interface {
		PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64, keep template.KeepTime) (operation.RollBackPreview, error)
		RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string, keep template.KeepTime) (cluster.View, error)
	}
	// Leases shows and extends leases.
	Leases interface {
		LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (lease.Outlook, error)
		ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (lease.Outlook, error)
	}
	// Idle shows how clusters are used, and keeps them.
	Idle interface {
		ClusterIdle(ctx context.Context, a app.Actor, cluster string) (idle.View, error)
		KeepCluster(ctx context.Context, a app.Actor, cluster string, by time.Duration) (idle.View, error)
	}
	// Requests shows and decides requests.
	Requests interface {
		Request(ctx context.Context, a app.Actor, id int64) (cluster.Request, error)
		Requests(ctx context.Context, a app.Actor, f cluster.RequestFilter) ([]cluster.Request, error)
		Review(ctx context.Context, a app.Actor, id int64, v operation.ReviewRequest) (cluster.Request, error)
		Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (cluster.Request, error)
		Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (cluster.Request, error)
	}
	// ManualSteps shows and answers manual steps.
	ManualSteps interface {
		ManualSteps(ctx context.Context, a app.Actor, q execution.ManualStepQuery) ([]execution.ManualStep, error)
		AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (execution.ManualStep, error)
	}
	// Queues shows what a cluster's steps are waiting for.
	Queues interface {
		Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	}
	// Quotas shows remaining quota.
	Quotas interface {
		QuotaLeft(ctx context.Context, a app.Actor) (policy.QuotaLeft, error)
	}
	// Orphans are machines at providers that belong to no cluster.
	Orphans interface {
		Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	}
	// Workspaces are the chat's workspaces that have the bot.
	Workspaces interface {
		ChatWorkspace(ctx context.Context, kind, team, enterprise string) (chat.Workspace, error)
	}
	// Channels maps a workspace's channels to tenants.
	Channels interface {
		ChatTenant(ctx context.Context, w chat.Workspace, channel string) (string, error)
		// UseChannel records that the actor's side assigns a channel to a tenant, and returns the state of the agreement.
		UseChannel(ctx context.Context, a app.Actor, c chat.Channel) (chat.Channel, error)
		ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
	}
	// Homes keeps people's homes in a chat up to date.
	Homes interface {
		// HomeShown records what a person's home shows, as computed at since.
		HomeShown(ctx context.Context, h chat.Home, since time.Time) error
	}
)
