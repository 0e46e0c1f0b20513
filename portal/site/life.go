package site

import (
	"context"

	"muster/app"
	appcluster "muster/app/cluster"
)

// Life is a power that a Muster may have: what becomes of a cluster besides create and delete. A portal without it has no page to
// manage one.
type Life interface {
	// RenameCluster gives a cluster another name; its id and host names stay.
	RenameCluster(ctx context.Context, a app.Actor, cluster, name string) (app.ClusterView, error)
	// TransferCluster gives a cluster to another user of its tenant.
	TransferCluster(ctx context.Context, a app.Actor, cluster, to string) (app.ClusterView, error)
	// PreviewSleep and PreviewWake work out what it would do; EConflict where the cluster's state does not allow it.
	PreviewSleep(ctx context.Context, a app.Actor, cluster string) (app.AmendPreview, error)
	PreviewWake(ctx context.Context, a app.Actor, cluster string) (app.AmendPreview, error)
	// SleepCluster and WakeCluster do it, or ask for it where people have to approve. EConflict, reason plan_changed, where another
	// plan was shown; EForbidden, reason policy, where a policy refuses.
	SleepCluster(ctx context.Context, a app.Actor, cluster, planHash string) (app.AmendAnswer, error)
	WakeCluster(ctx context.Context, a app.Actor, cluster, planHash string) (app.AmendAnswer, error)
	Schedule(ctx context.Context, a app.Actor, cluster string) (app.ClusterSchedule, error)
	// SetSchedule says when a cluster sleeps and wakes; an empty one takes it away.
	SetSchedule(ctx context.Context, a app.Actor, cluster string, s app.Schedule) (app.ClusterSchedule, error)
	// ExportCluster gives what to ask for to get such a cluster, without what may be secret.
	ExportCluster(ctx context.Context, a app.Actor, cluster string) (appcluster.SpecExport, error)
	PreviewClone(ctx context.Context, a app.Actor, cluster, name string) (app.Preview, error)
	CloneCluster(ctx context.Context, a app.Actor, cluster, name, planHash string) (app.Answer, error)
	// DiffClusters compares "web" and "db", or "web@12" and "web".
	DiffClusters(ctx context.Context, a app.Actor, first, second string) (appcluster.ClusterDiff, error)
}

// Life gives the power; nil where there is none.
func (p *Site) Life() Life {
	l, _ := p.Muster.(Life)
	return l
}
