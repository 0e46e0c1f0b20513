package app

import (
	"context"
	"fmt"
	"time"
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

func (b Build) FailedNotice(now time.Time) Notice {
	about := Subject{Kind: SubjectClusters} // builds have no page of their own
	if b.Cluster != "" {
		about = ClusterSubject(b.Cluster)
	}
	return Notice{At: now, Tenant: b.Tenant, Kind: NoticeCluster, Cluster: b.Cluster, Users: []string{b.Owner},
		Title: fmt.Sprintf("Build %s got no cluster", FirstOf(b.Event.Build, b.Key)), Text: b.Words, About: about}
}

// Over ends a build that has no cluster.
func (b *Build) Over(s BuildState, words string, now time.Time) {
	b.State, b.Words, b.EndedAt, b.DueAt = s, FirstOf(words, b.Words), now, time.Time{}
}

// Ending begins to give a build's cluster back; final is the state after.
func (b *Build) Ending(final BuildState, words string, now time.Time) {
	b.State, b.Final, b.Words, b.Tries, b.RetryAt = BuildEnding, final, FirstOf(words, b.Words), 0, time.Time{}
	if b.EndAt.IsZero() {
		b.EndAt = now
	}
}

// AsOwner is as whom something is undone for a build, also where that user can begin nothing any more.
func (d DueBuild) AsOwner() Actor {
	return Actor{Tenant: d.Tenant, User: d.Of.Owner, Role: RoleUser, Via: ViaHook, Token: "build hook " + d.Of.Name}
}
