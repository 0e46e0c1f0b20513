package build

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/store/storetest/kit"
)

// buildsTendedAtOnce: several servers manage builds at the same time, as they do for a moment while one follows the other. Each build is
// given one cluster, none more than there is room for, and each is given back once.
func (t *storeTest) buildsTendedAtOnce() {
	const all, most, servers = 9, 4, 3
	b := t.calling(calledRule(most, all))
	ctx, stop := context.WithCancel(b.Ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for range servers {
		wg.Go(func() {
			changed, done := b.Store.Watch(app.BuildsTopic())
			defer done()
			for ctx.Err() == nil {
				n, _, err := b.a.Build.Reconciler.ReconcileBuilds(ctx)
				if err != nil && ctx.Err() == nil {
					b.Logf("a server tries again later: %v", err)
				}
				if err == nil && n > 0 {
					continue
				}
				select {
				case <-ctx.Done():
				case <-changed:
				case <-time.After(20 * time.Millisecond): // what was tried in vain is due again
				}
			}
		})
	}
	// until does what workers do, until so many builds are as is asked for.
	until := func(state app.BuildState, want int) (list []build.Build) {
		b.Helper()
		changed, done := b.Store.Watch(app.BuildsTopic())
		defer done()
		for range 1000 {
			b.Drain()
			var err error
			list, err = b.Store.Builds(b.Ctx, kit.Tenant, build.Filter{Limit: 100})
			b.Must(err)
			n, busy := 0, 0
			for _, v := range list {
				if v.State == state && (state != app.BuildReady || v.EndAt.IsZero()) {
					n++
				}
				if v.State.Live() && v.State != app.BuildWaiting {
					busy++
				}
			}
			if busy > most {
				b.Fatalf("%d builds have clusters at once, at most %d may", busy, most)
			}
			if n == want {
				return list
			}
			select {
			case <-changed:
			case <-time.After(20 * time.Millisecond):
				b.Clock.Move(time.Second)
			}
		}
		b.Fatalf("not %d builds are %s", want, state)
		return nil
	}
	for i := range all {
		b.begins(fmt.Sprintf("web/%d", i))
	}
	over := 0
	for over < all {
		ready := min(most, all-over)
		for _, v := range until(app.BuildReady, ready) {
			if v.State == app.BuildReady && v.EndAt.IsZero() {
				b.ends(v.Key)
				over++
			}
		}
	}
	list := until(app.BuildOver, all)
	b.made(all)
	clusters := map[string]bool{}
	for _, v := range list {
		if clusters[v.Cluster] || v.Cluster == "" {
			b.Errorf("build %d has cluster %q, which is another one's", v.ID, v.Cluster)
		}
		clusters[v.Cluster] = true
		b.outcome(v.ID, "ready waiting 0; ended waiting 0")
	}
}
