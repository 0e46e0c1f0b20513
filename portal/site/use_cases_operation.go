package site

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/app/schedule"
	"muster/app/template"
)

// Operations are what a person can do about an operation of a cluster; operation 0 is the one under way, or else the latest.
// What its state does not allow is EConflict, with a hint that says what it does.
type Operations interface {
	// CancelOperation stops it; with rollBack it is undone by itself once it has stopped.
	CancelOperation(ctx context.Context, a app.Actor, cluster string, operation int64, rollBack bool) (appcluster.ClusterView, error)
	PauseOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (appcluster.ClusterView, error)
	ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (appcluster.ClusterView, error)
	// RetryNode tries again what failed on one node.
	RetryNode(ctx context.Context, a app.Actor, cluster, node string) (appcluster.ClusterView, error)
}

// RollBacks undo operations that failed or were cancelled; operation 0 is the latest.
type RollBacks interface {
	PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.RollBackPreview, error)
	// RollBack undoes what it has done. A planHash that is not that of the plan made now is EConflict, reason plan_changed.
	RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string) (appcluster.ClusterView, error)
}

// Partials accept operations of which machines are missing, with those that came; operation 0 is the latest.
type Partials interface {
	// PreviewGoOn works out what it would be. EConflict, reason no_go_on, where it cannot be, saying what is missing.
	PreviewGoOn(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.GoOnPreview, error)
	// GoOn does it. EConflict, reason plan_changed, where another plan was shown.
	GoOn(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string, noTopUp bool) (appcluster.ClusterView, error)
}

// Backfills request the nodes that clusters lack again.
type Backfills interface {
	// SetTopUp says whether, and when, the nodes that a cluster lacks are asked for again.
	SetTopUp(ctx context.Context, a app.Actor, cluster string, o appoperation.TopUpOrder) (appcluster.ClusterView, error)
}

// Drifts compare clusters with what they should be.
type Drifts interface {
	// Drift tells where a cluster is not what it should be.
	Drift(ctx context.Context, a app.Actor, cluster string) (appoperation.Drift, error)
}

// Amendments change clusters that exist.
type Amendments interface {
	// PreviewAmend works out what an amendment would do. EConflict where the cluster cannot be amended as it is now.
	PreviewAmend(ctx context.Context, a app.Actor, cluster string, m appcluster.Amendment) (appcluster.AmendPreview, error)
	// Amend returns the operation, or the request that waits; neither where the cluster is so already. EConflict, reason
	// plan_changed, where another plan was shown; EForbidden, reason policy, where a policy refuses.
	Amend(ctx context.Context, a app.Actor, cluster string, m appcluster.Amendment) (appcluster.AmendAnswer, error)
}

// Sleeping puts clusters to sleep and wakes them.
type Sleeping interface {
	// PreviewSleep and PreviewWake work out what it would do; EConflict where the cluster's state does not allow it.
	PreviewSleep(ctx context.Context, a app.Actor, cluster string) (appcluster.AmendPreview, error)
	PreviewWake(ctx context.Context, a app.Actor, cluster string) (appcluster.AmendPreview, error)
	// SleepCluster and WakeCluster do it, or ask for it where people have to approve. EConflict, reason plan_changed, where another
	// plan was shown; EForbidden, reason policy, where a policy refuses.
	SleepCluster(ctx context.Context, a app.Actor, cluster, planHash string) (appcluster.AmendAnswer, error)
	WakeCluster(ctx context.Context, a app.Actor, cluster, planHash string) (appcluster.AmendAnswer, error)
}

// Schedules say when clusters sleep and wake.
type Schedules interface {
	Schedule(ctx context.Context, a app.Actor, cluster string) (schedule.ClusterSchedule, error)
	// SetSchedule says when a cluster sleeps and wakes; an empty one takes it away.
	SetSchedule(ctx context.Context, a app.Actor, cluster string, s schedule.Schedule) (schedule.ClusterSchedule, error)
}

// Leases are when clusters end.
type Leases interface {
	ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (appoperation.LeaseOutlook, error)
	LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (appoperation.LeaseOutlook, error)
	// LeaseLink checks the link of a warning; moved tells that the end is another one by now.
	LeaseLink(ctx context.Context, a app.Actor, cluster, end, signature string) (o appoperation.LeaseOutlook, moved bool, err error)
}

// Requests are what policies decide on and people approve.
type Requests interface {
	Requests(ctx context.Context, a app.Actor, f appcluster.RequestFilter) ([]appcluster.Request, error)
	Request(ctx context.Context, a app.Actor, id int64) (appcluster.Request, error)
	// Review, Confirm and BreakGlass are EConflict, reason "plan_changed", where another plan was shown.
	Review(ctx context.Context, a app.Actor, id int64, v appoperation.ReviewRequest) (appcluster.Request, error)
	Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (appcluster.Request, error)
	Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (appcluster.Request, error)
	BreakGlass(ctx context.Context, a app.Actor, id int64, planHash, reason string) (appcluster.Request, error)
}
