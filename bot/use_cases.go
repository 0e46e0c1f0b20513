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
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
)

// UseCases are what the bot asks for, by noun. All of them are always there. Every method may be called from several goroutines; errors
// are *app.Error where they mean something to the person who asked.
type UseCases struct {
	People     People
	Catalogs   Catalogs
	Clusters   Clusters
	Activity   Activity
	Deletes    Deletes
	Creates    Creates
	Amendments Amendments
	Operations Operations
	RollBacks  RollBacks
	Leases     Leases
	Requests   Requests
	Questions  Questions
	Queues     Queues
	Quotas     Quotas
	Orphans    Orphans
	Workspaces Workspaces
	Channels   Channels
	Homes      Homes
}

// Check panics where one is not set, which is a mistake in wiring.
func (u UseCases) Check() {
	for v, i := reflect.ValueOf(u), 0; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			panic("bot: the use cases of " + v.Type().Field(i).Name + " are not set")
		}
	}
}

type (
	// People says which account someone of a chat has.
	People interface {
		// LinkStart returns the path of a one-time link that ties someone of a chat to an account.
		LinkStart(ctx context.Context, kind, external, label string) (app.Subject, error)
		// ActorOfIdentity returns who someone of a chat is; EUnauthorized, reason "not_linked", where they have no account.
		ActorOfIdentity(ctx context.Context, kind, external string) (app.Actor, error)
	}
	// Catalogs are what clusters can be created from.
	Catalogs interface {
		Catalog(ctx context.Context, a app.Actor) (*template.Catalog, error)
	}
	// Clusters shows clusters.
	Clusters interface {
		Clusters(ctx context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error)
		Cluster(ctx context.Context, a app.Actor, id string) (cluster.ClusterView, error)
	}
	// Activity is what is done with clusters, step by step.
	Activity interface {
		Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
		Logs(ctx context.Context, a app.Actor, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	}
	// Deletes deletes clusters.
	Deletes interface {
		DeleteCluster(ctx context.Context, a app.Actor, id string) (cluster.ClusterView, error)
	}
	// Creates previews new clusters, and creates them or asks for approval.
	Creates interface {
		Preview(ctx context.Context, a app.Actor, r cluster.ClusterRequest) (cluster.Preview, error)
		Ask(ctx context.Context, a app.Actor, r cluster.ClusterRequest) (cluster.Answer, error)
	}
	// Amendments changes clusters.
	Amendments interface {
		PreviewAmend(ctx context.Context, a app.Actor, cluster string, m cluster.Amendment) (cluster.AmendPreview, error)
		Amend(ctx context.Context, a app.Actor, cluster string, m cluster.Amendment) (cluster.AmendAnswer, error)
	}
	// Operations resumes what has failed.
	Operations interface {
		ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (cluster.ClusterView, error)
	}
	// RollBacks undoes what has failed.
	RollBacks interface {
		PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64) (operation.RollBackPreview, error)
		RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string) (cluster.ClusterView, error)
	}
	// Leases shows until when clusters live, and extends that.
	Leases interface {
		LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (operation.LeaseOutlook, error)
		ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (operation.LeaseOutlook, error)
	}
	// Requests are what waits for approval.
	Requests interface {
		Request(ctx context.Context, a app.Actor, id int64) (cluster.Request, error)
		Requests(ctx context.Context, a app.Actor, f cluster.RequestFilter) ([]cluster.Request, error)
		Review(ctx context.Context, a app.Actor, id int64, v operation.ReviewRequest) (cluster.Request, error)
		Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (cluster.Request, error)
		Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (cluster.Request, error)
	}
	// Questions are what manual steps ask people.
	Questions interface {
		Questions(ctx context.Context, a app.Actor, q execution.QuestionQuery) ([]execution.Question, error)
		AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (execution.Question, error)
	}
	// Queues says what the steps of a cluster wait for.
	Queues interface {
		Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	}
	// Quotas says how much more someone may have.
	Quotas interface {
		QuotaLeft(ctx context.Context, a app.Actor) (policy.QuotaLeft, error)
	}
	// Orphans are machines at providers that belong to no cluster.
	Orphans interface {
		Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	}
	// Workspaces are those of a chat that the bot is in.
	Workspaces interface {
		ChatWorkspace(ctx context.Context, kind, team, enterprise string) (chat.ChatWorkspace, error)
	}
	// Channels says whose the channels of a workspace are, and gives them to other tenants.
	Channels interface {
		ChatTenant(ctx context.Context, w chat.ChatWorkspace, channel string) (string, error)
		// UseChannel notes that the side of the actor wants a channel to be a tenant's, and returns what is agreed by now.
		UseChannel(ctx context.Context, a app.Actor, c chat.ChatChannel) (chat.ChatChannel, error)
		ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
	}
	// Homes keeps people's own pages within a chat fresh.
	Homes interface {
		// HomeShown notes what someone's home shows, as it was worked out at a time.
		HomeShown(ctx context.Context, h chat.ChatHome, since time.Time) error
	}
)
