package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// ReconcilerStore keeps builds, and knows the requests and clusters that they wait for.
type ReconcilerStore interface {
	// Builds returns them newest first, without Ahead.
	Builds(ctx context.Context, tenant string, f Filter) ([]Build, error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	// DueBuilds returns builds of all tenants of which something is to be done by now, and when the next one is due; zero: none is known.
	DueBuilds(ctx context.Context, now time.Time, limit int) (due []DueBuild, next time.Time, err error)
	// MoveBuild writes the state of a build, unless something has happened to it since it was read; done tells which. When it leaves its
	// place, the next one of its rule is looked at. Of notice and tell, what is not nil is queued with it.
	MoveBuild(ctx context.Context, b Build, notice *app.Notice, tell *app.BuildNews, now time.Time) (done bool, err error)
	MoveRequest(ctx context.Context, m cluster.RequestMove) (cluster.Request, error)
	Request(ctx context.Context, tenant string, id int64) (cluster.Request, error)
	View(ctx context.Context, tenant string, id string) (cluster.View, error)
}

// ReconcilerConfig is what Reconciler is created from. Only what says so may be nil.
type ReconcilerConfig struct {
	Store   ReconcilerStore
	Now     func() time.Time
	Creates *cluster.Creates
	Deletes *cluster.Deletes
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error

	Hooks *Hooks
}

// Reconciler gets clusters for builds that wait, and returns them.
type Reconciler struct {
	ReconcilerConfig
}

// NewReconciler returns one on top of what c holds.
func NewReconciler(c ReconcilerConfig) *Reconciler { return &Reconciler{ReconcilerConfig: c} }

// DueBuild is a build of which something is to be done, with what that takes.
type DueBuild struct {
	Build
	Of BuildHook
}

func (b Build) failedNotice(now time.Time) app.Notice {
	about := app.Subject{Kind: app.SubjectClusters} // builds have no page of their own
	if b.Cluster != "" {
		about = app.ClusterSubject(b.Cluster)
	}
	return app.Notice{At: now, Tenant: b.Tenant, Kind: app.NoticeCluster, Cluster: b.Cluster, Users: []string{b.Owner},
		Title: fmt.Sprintf("Build %s got no cluster", cmp.Or(b.Event.Build, b.Key)), Text: b.Message, About: about}
}

// Over ends a build that has no cluster.
func (b *Build) Over(s app.BuildState, words string, now time.Time) {
	b.State, b.Message, b.EndedAt, b.DueAt = s, cmp.Or(words, b.Message), now, time.Time{}
}

// Ending begins to give a build's cluster back; final is the state after.
func (b *Build) Ending(final app.BuildState, words string, now time.Time) {
	b.State, b.Final, b.Message, b.Tries, b.RetryAt = app.BuildEnding, final, cmp.Or(words, b.Message), 0, time.Time{}
	if b.EndAt.IsZero() {
		b.EndAt = now
	}
}

// asOwner is as whom something is undone for a build, also where that user can begin nothing any more.
func (d DueBuild) asOwner() app.Actor {
	return app.Actor{Tenant: d.Tenant, User: d.Of.Owner, Role: app.RoleUser, Via: app.ViaHook, Token: "build hook " + d.Of.Name}
}

// How builds are gone on with.
const (
	buildFirstRetry = 5 * time.Second
	buildLastRetry  = 2 * time.Minute
	buildEndAgain   = 5 * time.Minute // an ending one is looked at again though nothing happens
	buildsAtOnce    = 100
)

// ReconcileBuilds continues with builds, of all tenants: assigns clusters to those whose turn it is, follows them until they are ready, and takes
// them back when their builds have ended. It returns how many it continued with, and when it is to be called again though nothing happens; zero
// where that is unknown. Several servers may call it at the same time. A build to which nothing happens costs nothing.
func (a *Reconciler) ReconcileBuilds(ctx context.Context) (moved int, next time.Time, err error) {
	now := a.Now()
	due, next, err := a.Store.DueBuilds(ctx, now, buildsAtOnce)
	if err != nil {
		return 0, next, err
	}
	var errs []error
	for _, d := range due {
		did, err := a.reconcileBuild(ctx, d, now)
		if did {
			moved++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("build %d of %s: %w", d.ID, d.Tenant, err))
		}
	}
	return moved, next, errors.Join(errs...)
}

func (a *Reconciler) reconcileBuild(ctx context.Context, d DueBuild, now time.Time) (bool, error) {
	b := d.Build
	var notice *app.Notice
	var err error
	switch b.State {
	case app.BuildWaiting:
		var claimed bool
		if claimed, err = a.turnOf(ctx, d, &b, now); claimed || err != nil {
			return claimed, err
		}
	case app.BuildAsking:
		var moved bool
		if moved, err = a.askedFor(ctx, d, &b, now); moved {
			return true, err
		}
	case app.BuildCreating, app.BuildReady:
		err = a.followBuild(ctx, &b, now)
	}
	if err == nil && b.State == app.BuildEnding {
		err = a.releaseBuild(ctx, d, &b, now)
	}
	var tell *app.BuildNews
	if err == nil {
		tell, err = a.toldOf(ctx, d, b, now)
	}
	if err != nil {
		// What is wrong now may be right later; it is looked at again, so that no machine is forgotten.
		b = d.Build
		b.Tries++
		b.DueAt = now.Add(buildRetry(b.Tries))
		_, moved := a.Store.MoveBuild(ctx, b, nil, nil, now)
		return false, errors.Join(err, moved)
	}
	if b.State == app.BuildFailed && d.State != app.BuildFailed {
		n := b.failedNotice(now)
		notice = &n
	}
	return a.Store.MoveBuild(ctx, b, notice, tell, now)
}

func buildRetry(tries int) time.Duration {
	return min(buildFirstRetry<<min(max(tries-1, 0), 10), buildLastRetry)
}

// turnOf creates the cluster of a waiting build where its turn has come. claimed says that the store has moved it already.
func (a *Reconciler) turnOf(ctx context.Context, d DueBuild, b *Build, now time.Time) (claimed bool, err error) {
	switch {
	case !b.EndAt.IsZero():
		b.Over(app.BuildOver, "Ended while waiting in the queue.", now)
		return false, nil
	case !now.Before(b.WaitUntil):
		b.Over(app.BuildFailed, cmp.Or("Timed out in the queue. "+b.Message, ""), now)
		return false, nil
	case now.Before(b.RetryAt):
		b.DueAt = b.RetryAt
		return false, nil
	}
	owner, why, err := a.Hooks.buildOwner(ctx, d.Of)
	if err != nil {
		return false, err
	}
	if why != "" {
		b.Over(app.BuildRefused, why, now)
		return false, nil
	}
	atOnce := b.Spec.Concurrency
	for _, r := range d.Of.Rules {
		if r.Name == b.Rule && r.Do == ActionCreate {
			atOnce = r.AtOnce()
		}
	}
	r := b.Spec.Request()
	r.Build = &app.BuildClaim{ID: b.ID, Version: b.Version, AtOnce: atOnce}
	if a.Faults != nil {
		if err := a.Faults("build ask"); err != nil {
			return false, err
		}
	}
	_, err = a.Creates.SubmitRequest(owner.In(ctx), owner, r)
	e := app.AsError(err)
	switch {
	case err == nil:
		return true, nil
	case e.Code == app.EConflict && e.Reason == "build_moved":
		// There is no room, or something has happened to it meanwhile: then it is due anyway.
		b.Message, b.DueAt = "Waiting in the queue.", b.WaitUntil
		return false, nil
	case e.Code == app.EForbidden:
		b.Over(app.BuildRefused, e.Advised(), now)
		return false, nil
	case e.Code == app.EQuota, e.Code == app.ECapacity, e.Code == app.ERateLimit, e.Code == app.ETransient, e.Code == app.ETimeout, e.Code == app.EConflict && e.Field != "name":
		b.Tries++
		b.Message, b.RetryAt = e.Advised(), now.Add(max(buildRetry(b.Tries), e.RetryAfter))
		if b.RetryAt.After(b.WaitUntil) {
			b.RetryAt = b.WaitUntil
		}
		b.DueAt = b.RetryAt
		return false, nil
	case e.Code == app.EInternal, e.Code == app.ECancelled:
		return false, err
	case e.Code == app.EConflict:
		leaves, err := a.leavesName(ctx, b)
		if err != nil {
			return false, err
		}
		if leaves {
			b.Message = fmt.Sprintf("Waiting for cluster %s of an earlier build to be deleted.", b.Spec.Cluster)
			b.RetryAt = now.Add(buildFirstRetry)
			if b.RetryAt.After(b.WaitUntil) {
				b.RetryAt = b.WaitUntil
			}
			b.DueAt = b.RetryAt
			return false, nil
		}
	}
	b.Over(app.BuildFailed, e.Advised(), now)
	return false, nil
}

// leavesName reports whether the cluster that has the name which a build wants goes away by itself, since the build that it was for has ended.
func (a *Reconciler) leavesName(ctx context.Context, b *Build) (bool, error) {
	all, err := a.Store.Clusters(ctx, b.Tenant, app.ClusterFilter{Name: b.Spec.Cluster, Deleted: true, Limit: 1})
	if err != nil || b.Spec.Cluster == "" || len(all) == 0 {
		return false, err
	}
	c := all[0]
	if c.Status == app.ClusterDeleted || c.Operation != nil && c.Operation.Kind == app.OperationDelete && !c.Operation.Status.Ended() {
		return true, nil
	}
	of, err := a.Store.Builds(ctx, b.Tenant, Filter{Cluster: c.ID, Limit: 1})
	return len(of) > 0 && of[0].State.Live() && !of[0].EndAt.IsZero(), err
}

// notApproved is why a request for a build's cluster is withdrawn that waited for too long, and why the build failed then.
const notApproved = "Not approved in time."

// askedFor follows the request for a build's cluster. That it runs moves the build in the same transaction. moved says that
// the store has done so already.
func (a *Reconciler) askedFor(ctx context.Context, d DueBuild, b *Build, now time.Time) (moved bool, err error) {
	q, err := a.Store.Request(ctx, b.Tenant, b.Request)
	if err != nil {
		return false, err
	}
	if !q.Status.Open() {
		switch {
		case !b.EndAt.IsZero():
			b.Over(app.BuildOver, "Ended while waiting for approval.", now)
		case q.Status == cluster.RequestWithdrawn && q.Message == notApproved:
			b.Over(app.BuildFailed, notApproved, now)
		case q.Status == cluster.RequestDenied:
			b.Over(app.BuildRefused, "Denied: "+cmp.Or(q.Message, "no reason given."), now)
		default:
			b.Over(app.BuildRefused, cmp.Or(q.Message, "The request was "+string(q.Status)+"."), now)
		}
		return false, nil
	}
	if b.EndAt.IsZero() && now.Before(b.WaitUntil) {
		b.DueAt = b.WaitUntil
		return false, nil
	}
	why := "The build has ended."
	if b.EndAt.IsZero() {
		why = notApproved
	}
	_, err = a.Store.MoveRequest(ctx, cluster.RequestMove{Tenant: b.Tenant, ID: b.Request, Act: cluster.RequestWithdraw, Who: d.asOwner(), Reason: why, Now: now})
	return err == nil, err // which has made the build due
}

// followBuild looks at a build's cluster.
func (a *Reconciler) followBuild(ctx context.Context, b *Build, now time.Time) error {
	c, err := a.Store.Cluster(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return err
	}
	b.DueAt = time.Time{}
	switch {
	case c.Status == app.ClusterDeleted && b.State == app.BuildCreating && b.EndAt.IsZero():
		b.Over(app.BuildFailed, cmp.Or(c.Message, "The cluster was deleted before it was ready."), now)
	case c.Status == app.ClusterDeleted: // by us, if the build has ended and changed while we began the delete: then its message says why
		b.Over(app.BuildOver, cmp.Or(b.Message, "The cluster was deleted."), now)
	case !b.EndAt.IsZero():
		b.Ending(app.BuildOver, "", now)
	case b.State == app.BuildReady: // whatever is wrong with it now is for its owner to see
	case c.Status == app.ClusterActive:
		b.State, b.Message, b.ReadyAt, b.Tries = app.BuildReady, "", now, 0
	case c.Status == app.ClusterFailed:
		b.Ending(app.BuildFailed, cmp.Or(c.Message, "The cluster couldn't be created."), now)
	case !now.Before(b.WaitUntil):
		b.Ending(app.BuildFailed, "The cluster wasn't ready in time.", now)
	default:
		b.DueAt = b.WaitUntil
	}
	return nil
}

// releaseBuild begins the delete of a build's cluster, and sees it gone. It needs no one's leave: machines cost money.
func (a *Reconciler) releaseBuild(ctx context.Context, d DueBuild, b *Build, now time.Time) error {
	c, err := a.Store.Cluster(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return err
	}
	if c.Status == app.ClusterDeleted {
		final := b.Final
		if final == "" {
			final = app.BuildOver
		}
		b.Over(final, "", now)
		return nil
	}
	if c.Lock != nil { // an admin wants it to stay as it is; its lease still ends it
		b.DueAt = now.Add(buildEndAgain)
		return nil
	}
	who := d.asOwner()
	if _, err := a.Deletes.StartDelete(who.In(ctx), who, c); err != nil && app.CodeOf(err) != app.EConflict {
		return err
	}
	b.DueAt = now.Add(buildEndAgain)
	return nil
}
