package site

import (
	"context"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/bulk"
	appcluster "muster/app/cluster"
	"muster/app/idle"
	"muster/app/lease"
	appoperation "muster/app/operation"
	"muster/app/quarantine"
	"muster/app/run"
	"muster/app/scaling"
	"muster/app/schedule"
	"muster/app/template"
	"muster/app/window"
)

// Operations controls a cluster's operations; operation 0 is the current one, or else the latest. EConflict, with a hint, if the
// operation's state doesn't allow it.
type Operations interface {
	// CancelOperation stops an operation; with rollBack, it's rolled back automatically afterwards.
	CancelOperation(ctx context.Context, a app.Actor, cluster string, operation int64, rollBack bool) (appcluster.View, error)
	PauseOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (appcluster.View, error)
	ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (appcluster.View, error)
	// RetryNode retries failed steps of a node.
	RetryNode(ctx context.Context, a app.Actor, cluster, node string) (appcluster.View, error)
}

// RollBacks rolls back failed or cancelled operations; operation 0 is the latest.
type RollBacks interface {
	PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64, keep template.KeepTime) (appoperation.RollBackPreview, error)
	// RollBack is EConflict, reason plan_changed, if planHash isn't the current plan's.
	RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string, keep template.KeepTime) (appcluster.View, error)
}

// Partials accepts partial results of operations with missing machines; operation 0 is the latest.
type Partials interface {
	// PreviewAcceptPartial is EConflict, reason partial_unacceptable, with what is missing if the result can't be accepted.
	PreviewAcceptPartial(ctx context.Context, a app.Actor, cluster string, operation int64, keep template.KeepTime) (
		appoperation.AcceptPartialPreview, error)
	// AcceptPartial is EConflict, reason plan_changed, if another plan was shown.
	AcceptPartial(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string, how template.PartialOverride) (
		appcluster.View, error)
}

// Kept lists failed machines that are kept for inspection.
type Kept interface {
	// KeptMachines lists those of a cluster, or all that the actor can see.
	KeptMachines(ctx context.Context, a app.Actor, cluster string) ([]quarantine.Machine, error)
}

// Backfills requests clusters' missing nodes again.
type Backfills interface {
	// SetBackfill sets whether and when missing nodes are requested again.
	SetBackfill(ctx context.Context, a app.Actor, cluster string, o appoperation.BackfillOrder) (appcluster.View, error)
}

// Drifts detects drift.
type Drifts interface {
	// Drift returns how a cluster differs from its definition.
	Drift(ctx context.Context, a app.Actor, cluster string) (appoperation.Drift, error)
}

// Updates changes clusters.
type Updates interface {
	// PreviewUpdate previews a change. EConflict if the cluster's state doesn't allow it.
	PreviewUpdate(ctx context.Context, a app.Actor, cluster string, m appcluster.Update) (appcluster.UpdatePreview, error)
	// Update returns the operation, or the request waiting for approval; neither if there's nothing to change. EConflict, reason plan_changed,
	// if another plan was shown; EForbidden, reason policy, if a policy refuses.
	Update(ctx context.Context, a app.Actor, cluster string, m appcluster.Update) (appcluster.UpdateAnswer, error)
}

// Runs has commands run on nodes.
type Runs interface {
	RunCommand(ctx context.Context, a app.Actor, cluster string, ask run.Ask) (appcluster.UpdateAnswer, error)
	// Run returns a command by its operation; 0 is the latest.
	Run(ctx context.Context, a app.Actor, cluster string, operation int64) (run.View, error)
	// Actions are those of the cluster's template.
	Actions(ctx context.Context, a app.Actor, cluster string) ([]run.Action, error)
	// ActionSchedules have actions run again and again. EForbidden where an action needs an approval.
	ActionSchedules(ctx context.Context, a app.Actor, cluster string) ([]run.ActionSchedule, error)
	CreateActionSchedule(ctx context.Context, a app.Actor, cluster string, n run.NewSchedule) (run.ActionSchedule, error)
	PauseActionSchedule(ctx context.Context, a app.Actor, cluster, name string, pause bool) (run.ActionSchedule, error)
	DeleteActionSchedule(ctx context.Context, a app.Actor, cluster, name string) error
}

// Sleeping puts clusters to sleep and wakes them.
type Sleeping interface {
	// PreviewSleep and PreviewWake are EConflict if the cluster's state doesn't allow it.
	PreviewSleep(ctx context.Context, a app.Actor, cluster string) (appcluster.UpdatePreview, error)
	PreviewWake(ctx context.Context, a app.Actor, cluster string) (appcluster.UpdatePreview, error)
	// SleepCluster and WakeCluster start the operation or request approval. EConflict, reason plan_changed, if another plan was shown;
	// EForbidden, reason policy, if a policy refuses.
	SleepCluster(ctx context.Context, a app.Actor, cluster, planHash string) (appcluster.UpdateAnswer, error)
	WakeCluster(ctx context.Context, a app.Actor, cluster, planHash string) (appcluster.UpdateAnswer, error)
}

// Activity shows what was done in the tenant.
type Activity interface {
	Activity(ctx context.Context, a app.Actor, f activity.FeedFilter) (activity.FeedPart, error)
}

// Bulk does the same to several clusters.
type Bulk interface {
	PreviewBulk(ctx context.Context, a app.Actor, ask bulk.Ask) (bulk.Report, error)
	// RunBulk returns a result for each cluster. It is an error only where the request as a whole is wrong.
	RunBulk(ctx context.Context, a app.Actor, ask bulk.Ask) (bulk.Report, error)
}

// Windows are maintenance windows of the tenant and of clusters.
type Windows interface {
	MaintenanceWindows(ctx context.Context, a app.Actor) (window.View, error)
	SetMaintenanceWindows(ctx context.Context, a app.Actor, s window.Settings) (window.View, error)
	ClusterMaintenance(ctx context.Context, a app.Actor, cluster string) (window.View, error)
	// SetClusterMaintenance sets a cluster's own windows; nil: it has the tenant's again.
	SetClusterMaintenance(ctx context.Context, a app.Actor, cluster string, s *window.Settings) (window.View, error)
}

// Schedules are clusters' sleep schedules.
type Schedules interface {
	Schedule(ctx context.Context, a app.Actor, cluster string) (schedule.ClusterSchedule, error)
	// SetSchedule sets a cluster's sleep schedule; an empty one removes it.
	SetSchedule(ctx context.Context, a app.Actor, cluster string, s schedule.Schedule) (schedule.ClusterSchedule, error)
}

// Leases shows and extends leases.
type Leases interface {
	ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (lease.Outlook, error)
	LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (lease.Outlook, error)
	// LeaseLink checks the link of a warning; moved reports that the lease has changed since.
	LeaseLink(ctx context.Context, a app.Actor, cluster, end, signature string) (o lease.Outlook, moved bool, err error)
}

// Scaling shows how clusters are scaled, and sets it.
type Scaling interface {
	ClusterScaling(ctx context.Context, a app.Actor, cluster string) (scaling.View, error)
	// SetClusterScaling with neither rules nor off lets the cluster use its template's rules again.
	SetClusterScaling(ctx context.Context, a app.Actor, cluster string, s scaling.Setting) (scaling.View, error)
	// ResumeScaling is EConflict where scaling isn't paused.
	ResumeScaling(ctx context.Context, a app.Actor, cluster string) (scaling.View, error)
}

// Idle shows how clusters are used, and keeps them.
type Idle interface {
	ClusterIdle(ctx context.Context, a app.Actor, cluster string) (idle.View, error)
	// KeepCluster is EForbidden, reason idle_policy, if the policy doesn't let the owner.
	KeepCluster(ctx context.Context, a app.Actor, cluster string, by time.Duration) (idle.View, error)
	SetClusterIdle(ctx context.Context, a app.Actor, cluster string, off bool) (idle.View, error)
	IdleWarnings(ctx context.Context, a app.Actor) ([]idle.View, error)
	IdleSavings(ctx context.Context, a app.Actor, from, to time.Time) (idle.Savings, error)
	IdlePolicy(ctx context.Context, a app.Actor) (*template.IdlePolicy, error)
	SetIdlePolicy(ctx context.Context, a app.Actor, p *template.IdlePolicy) error
}

// Requests shows and decides requests.
type Requests interface {
	Requests(ctx context.Context, a app.Actor, f appcluster.RequestFilter) ([]appcluster.Request, error)
	Request(ctx context.Context, a app.Actor, id int64) (appcluster.Request, error)
	// Review, Confirm and BreakGlass are EConflict, reason "plan_changed", if another plan was shown.
	Review(ctx context.Context, a app.Actor, id int64, v appoperation.ReviewRequest) (appcluster.Request, error)
	Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (appcluster.Request, error)
	Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (appcluster.Request, error)
	// RunNow starts a request before its maintenance window.
	RunNow(ctx context.Context, a app.Actor, id int64, planHash, reason string) (appcluster.Request, error)
	BreakGlass(ctx context.Context, a app.Actor, id int64, planHash, reason string) (appcluster.Request, error)
}
