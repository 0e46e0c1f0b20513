package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How builds are gone on with.
const (
	buildFirstRetry = 5 * time.Second
	buildLastRetry  = 2 * time.Minute
	buildEndAgain   = 5 * time.Minute // an ending one is looked at again though nothing happens
	buildsAtOnce    = 100
)

// DueBuild is a build of which something is to be done, with what that takes.
type DueBuild struct {
	Build
	Of BuildHook
}

// BuildClaim makes a cluster, or a request for one, that of a build: it is made only if the build is still as it was, and if its rule has
// room for another one. It is EConflict, reason "build_moved", otherwise.
type BuildClaim struct {
	ID      int64
	Version int64
	AtOnce  int
}

// BuildStore keeps build hooks, builds and deliveries.
type BuildStore interface {
	BuildHooks(ctx context.Context, tenant string) ([]BuildHook, error)
	BuildHook(ctx context.Context, tenant, name string) (BuildHook, error)
	// BuildHookAt gives the hook of an address with the secrets that count now, the newest first; ENotFound where there is none.
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	// BuildTokenKey gives what tokens of a hook's builds are made from.
	BuildTokenKey(ctx context.Context, id string) ([]byte, error)
	SaveBuildHook(ctx context.Context, who Actor, c BuildHookChange, now time.Time) (h BuildHook, made bool, err error)
	// DeleteBuildHook ends all builds of a hook with it.
	DeleteBuildHook(ctx context.Context, who Actor, name string, now time.Time) error
	// NoteBuildRefused notes why a delivery was not taken, at most once in ten seconds for each hook.
	NoteBuildRefused(ctx context.Context, id, why string, now time.Time) error

	// TakeBuild does what an order says, and keeps the delivery. EConflict, reason "replayed", where there was one with the same Uniq;
	// ENotFound where the hook is gone.
	TakeBuild(ctx context.Context, o BuildOrder) (BuildDone, error)
	// NoteBuildTaken writes what became of a delivery later: Outcome and Words.
	NoteBuildTaken(ctx context.Context, d BuildTaken) error
	BuildDeliveries(ctx context.Context, tenant, hook string, before int64, limit int) ([]BuildTaken, error)
	// BuildDelivery gives one with its body, and what makes it the same.
	BuildDelivery(ctx context.Context, tenant, hook string, id int64) (d BuildTaken, uniq string, err error)

	// Builds gives them newest first, without Ahead.
	Builds(ctx context.Context, tenant string, f BuildFilter) ([]Build, error)
	Build(ctx context.Context, tenant string, id int64) (Build, error)
	EndBuild(ctx context.Context, who Actor, b Build, words string, now time.Time) error
	// DueBuilds gives builds of all tenants of which something is to be done by now, and when the next one is due; zero: none is known.
	DueBuilds(ctx context.Context, now time.Time, limit int) (due []DueBuild, next time.Time, err error)
	// MoveBuild writes how a build stands, unless something has happened to it since it was read; done tells which. When it leaves its
	// place, the next one of its rule is looked at. Of notice and tell, what is not nil is queued with it.
	MoveBuild(ctx context.Context, b Build, notice *Notice, tell *BuildNews, now time.Time) (done bool, err error)
	// BuildCallbacks are what builds are to be told: of each build one at a time, in the order of its states. They are queued by TakeBuild
	// and MoveBuild, and go with their builds.
	BuildCallbacks() DeliveryQueue
	// ForgetBuilds deletes deliveries, builds that are over, and hooks that are deleted, once they were kept long enough: a bounded
	// number at once. It gives how many.
	ForgetBuilds(ctx context.Context, now time.Time) (int, error)
}

// TendBuilds goes on with builds, of all tenants: gives clusters to those whose turn it is, follows them until they are ready, and gives
// them back when their builds have ended. It gives how many it went on with, and when it is to be called again though nothing happens; zero
// where nothing is known. Several servers may call it at the same time. A build to which nothing happens costs nothing.
func (a *App) TendBuilds(ctx context.Context) (moved int, next time.Time, err error) {
	now := a.Now()
	due, next, err := a.Store.DueBuilds(ctx, now, buildsAtOnce)
	if err != nil {
		return 0, next, err
	}
	var errs []error
	for _, d := range due {
		did, err := a.tendBuild(ctx, d, now)
		if did {
			moved++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("build %d of %s: %w", d.ID, d.Tenant, err))
		}
	}
	return moved, next, errors.Join(errs...)
}

func (a *App) tendBuild(ctx context.Context, d DueBuild, now time.Time) (bool, error) {
	b := d.Build
	var notice *Notice
	var err error
	switch b.State {
	case BuildWaiting:
		var claimed bool
		if claimed, err = a.turnOf(ctx, d, &b, now); claimed || err != nil {
			return claimed, err
		}
	case BuildAsking:
		var moved bool
		if moved, err = a.askedFor(ctx, d, &b, now); moved {
			return true, err
		}
	case BuildCreating, BuildReady:
		err = a.followBuild(ctx, d, &b, now)
	}
	if err == nil && b.State == BuildEnding {
		err = a.giveBuildBack(ctx, d, &b, now)
	}
	var tell *BuildNews
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
	if b.State == BuildFailed && d.State != BuildFailed {
		n := b.failedNotice(now)
		notice = &n
	}
	return a.Store.MoveBuild(ctx, b, notice, tell, now)
}

func buildRetry(tries int) time.Duration {
	return min(buildFirstRetry<<min(max(tries-1, 0), 10), buildLastRetry)
}

func (b Build) failedNotice(now time.Time) Notice {
	path := "/clusters" // builds have no page of their own
	if b.Cluster != "" {
		path += "/" + b.Cluster
	}
	return Notice{At: now, Tenant: b.Tenant, Kind: NoticeCluster, Cluster: b.Cluster, Users: []string{b.Owner},
		Title: fmt.Sprintf("Build %s got no cluster", firstOf(b.Event.Build, b.Key)), Text: b.Words, Path: path}
}

// over ends a build that has no cluster.
func (b *Build) over(s BuildState, words string, now time.Time) {
	b.State, b.Words, b.EndedAt, b.DueAt = s, firstOf(words, b.Words), now, time.Time{}
}

// ending begins to give a build's cluster back; final is the state after.
func (b *Build) ending(final BuildState, words string, now time.Time) {
	b.State, b.Final, b.Words, b.Tries, b.RetryAt = BuildEnding, final, firstOf(words, b.Words), 0, time.Time{}
	if b.EndAt.IsZero() {
		b.EndAt = now
	}
}

// turnOf gives a waiting build its cluster where its turn has come. claimed says that the store has moved it already.
func (a *App) turnOf(ctx context.Context, d DueBuild, b *Build, now time.Time) (claimed bool, err error) {
	switch {
	case !b.EndAt.IsZero():
		b.over(BuildOver, "It ended while it waited for its turn.", now)
		return false, nil
	case !now.Before(b.WaitUntil):
		b.over(BuildFailed, firstOf("Its turn did not come in time. "+b.Words, ""), now)
		return false, nil
	case now.Before(b.RetryAt):
		b.DueAt = b.RetryAt
		return false, nil
	}
	owner, why, err := a.buildOwner(ctx, d.Of)
	if err != nil {
		return false, err
	}
	if why != "" {
		b.over(BuildRefused, why, now)
		return false, nil
	}
	atOnce := b.Wanted.Concurrency
	for _, r := range d.Of.Rules {
		if r.Name == b.Rule && r.Do == BuildCreate {
			atOnce = r.AtOnce()
		}
	}
	r := b.Wanted.request()
	r.Build = &BuildClaim{ID: b.ID, Version: b.Version, AtOnce: atOnce}
	if a.Faults != nil {
		if err := a.Faults("build ask"); err != nil {
			return false, err
		}
	}
	_, err = a.SubmitRequest(owner.In(ctx), owner, r)
	e := AsError(err)
	switch {
	case err == nil:
		return true, nil
	case e.Code == EConflict && e.Reason == "build_moved":
		// There is no room, or something has happened to it meanwhile: then it is due anyway.
		b.Words, b.DueAt = "It waits for its turn.", b.WaitUntil
		return false, nil
	case e.Code == EForbidden:
		b.over(BuildRefused, e.Advised(), now)
		return false, nil
	case e.Code == EQuota, e.Code == ECapacity, e.Code == ERateLimit, e.Code == ETransient, e.Code == ETimeout, e.Code == EConflict && e.Field != "name":
		b.Tries++
		b.Words, b.RetryAt = e.Advised(), now.Add(max(buildRetry(b.Tries), e.RetryAfter))
		if b.RetryAt.After(b.WaitUntil) {
			b.RetryAt = b.WaitUntil
		}
		b.DueAt = b.RetryAt
		return false, nil
	case e.Code == EInternal, e.Code == ECancelled:
		return false, err
	case e.Code == EConflict:
		leaves, err := a.leavesName(ctx, b)
		if err != nil {
			return false, err
		}
		if leaves {
			b.Words = fmt.Sprintf("Waiting until the cluster %s of an earlier build is deleted.", b.Wanted.Cluster)
			b.RetryAt = now.Add(buildFirstRetry)
			if b.RetryAt.After(b.WaitUntil) {
				b.RetryAt = b.WaitUntil
			}
			b.DueAt = b.RetryAt
			return false, nil
		}
	}
	b.over(BuildFailed, e.Advised(), now)
	return false, nil
}

// leavesName tells whether the cluster that has the name which a build wants goes away by itself, since the build that it was for has ended.
func (a *App) leavesName(ctx context.Context, b *Build) (bool, error) {
	all, err := a.Store.Clusters(ctx, b.Tenant, ClusterFilter{Name: b.Wanted.Cluster, Deleted: true, Limit: 1})
	if err != nil || b.Wanted.Cluster == "" || len(all) == 0 {
		return false, err
	}
	c := all[0]
	if c.Status == ClusterDeleted || c.Operation != nil && c.Operation.Kind == OperationDelete && !c.Operation.Status.Ended() {
		return true, nil
	}
	of, err := a.Store.Builds(ctx, b.Tenant, BuildFilter{Cluster: c.ID, Limit: 1})
	return len(of) > 0 && of[0].State.Live() && !of[0].EndAt.IsZero(), err
}

// notApproved is why a request for a build's cluster is withdrawn that waited for too long, and why the build failed then.
const notApproved = "It was not approved in the time that the build waits."

// askedFor follows the request for a build's cluster. That it runs moves the build in the same transaction. moved says that
// the store has done so already.
func (a *App) askedFor(ctx context.Context, d DueBuild, b *Build, now time.Time) (moved bool, err error) {
	q, err := a.Store.Request(ctx, b.Tenant, b.Request)
	if err != nil {
		return false, err
	}
	if !q.Status.Open() {
		switch {
		case !b.EndAt.IsZero():
			b.over(BuildOver, "It ended while it waited for approvals.", now)
		case q.Status == RequestWithdrawn && q.Message == notApproved:
			b.over(BuildFailed, notApproved, now)
		case q.Status == RequestDenied:
			b.over(BuildRefused, "It was denied: "+firstOf(q.Message, "no reason was given."), now)
		default:
			b.over(BuildRefused, firstOf(q.Message, "Its request was "+string(q.Status)+"."), now)
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
	_, err = a.Store.MoveRequest(ctx, RequestMove{Tenant: b.Tenant, ID: b.Request, Act: RequestWithdraw, Who: d.asOwner(), Reason: why, Now: now})
	return err == nil, err // which has made the build due
}

// asOwner is as whom something is undone for a build, also where that user can begin nothing any more.
func (d DueBuild) asOwner() Actor {
	return Actor{Tenant: d.Tenant, User: d.Of.Owner, Role: RoleUser, Via: ViaHook, Token: "build hook " + d.Of.Name}
}

// followBuild looks at a build's cluster.
func (a *App) followBuild(ctx context.Context, d DueBuild, b *Build, now time.Time) error {
	c, err := a.Store.Cluster(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return err
	}
	b.DueAt = time.Time{}
	switch {
	case c.Status == ClusterDeleted && b.State == BuildCreating && b.EndAt.IsZero():
		b.over(BuildFailed, firstOf(c.Message, "Its cluster was deleted before it was ready."), now)
	case c.Status == ClusterDeleted:
		b.over(BuildOver, "Its cluster is gone.", now)
	case !b.EndAt.IsZero():
		b.ending(BuildOver, "", now)
	case b.State == BuildReady: // whatever is wrong with it now is for its owner to see
	case c.Status == ClusterActive:
		b.State, b.Words, b.ReadyAt, b.Tries = BuildReady, "", now, 0
	case c.Status == ClusterFailed:
		b.ending(BuildFailed, firstOf(c.Message, "Its cluster could not be made."), now)
	case !now.Before(b.WaitUntil):
		b.ending(BuildFailed, "Its cluster was not ready in time.", now)
	default:
		b.DueAt = b.WaitUntil
	}
	return nil
}

// giveBuildBack begins the delete of a build's cluster, and sees it gone. It needs nobody's leave: machines cost money.
func (a *App) giveBuildBack(ctx context.Context, d DueBuild, b *Build, now time.Time) error {
	c, err := a.Store.Cluster(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return err
	}
	if c.Status == ClusterDeleted {
		final := b.Final
		if final == "" {
			final = BuildOver
		}
		b.over(final, "", now)
		return nil
	}
	who := d.asOwner()
	if _, err := a.delete(who.In(ctx), who, c); err != nil && CodeOf(err) != EConflict {
		return err
	}
	b.DueAt = now.Add(buildEndAgain)
	return nil
}
