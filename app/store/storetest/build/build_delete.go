package build

import (
	"time"

	"muster/app"
	"muster/app/lock"
	"muster/app/store/storetest/kit"
)

// buildsLocked: the cluster of a build that ends stays while an admin has locked it.
func (t *storeTest) buildsLocked() {
	b := t.building(createRule(1, 1))
	r := b.begins("web/1")
	b.settle()
	id := b.is(r.Build, app.BuildReady).Cluster
	b.Must(b.a.Cluster.Locks.LockCluster(b.Ctx, kit.Boss, id, lock.Ask{Reason: "odd logins"}))
	b.ends("web/1")
	for range 3 {
		b.settle()
		b.is(r.Build, app.BuildEnding)
		b.Clock.Move(5 * time.Minute)
	}
	if c, err := b.Store.Cluster(b.Ctx, kit.Tenant, id); err != nil || c.Status != app.ClusterActive {
		b.Errorf("the locked cluster is %s (%v)", c.Status, err)
	}
	b.Must(b.a.Cluster.Locks.UnlockCluster(b.Ctx, kit.Boss, id, ""))
	b.settle()
	b.is(r.Build, app.BuildOver)
	if c, err := b.Store.Cluster(b.Ctx, kit.Tenant, id); err != nil || c.Status != app.ClusterDeleted {
		b.Errorf("the cluster is %s (%v)", c.Status, err)
	}
}

// buildEndsLate: where a build's cluster is deleted before its end has been handled, it says why it ended, as callbacks and lists show.
func (t *storeTest) buildEndsLate() {
	b := t.building(createRule(2, 0))
	for name, want := range map[string]string{"web/1": "The build has ended: success.", "web/2": "The cluster was deleted."} {
		r := b.begins(name)
		b.settle()
		if name == "web/1" {
			b.ends(name)
		}
		_, err := b.a.Cluster.Deletes.DeleteCluster(b.Ctx, kit.Boss, b.is(r.Build, app.BuildReady).Cluster)
		b.Must(err)
		b.Drain()
		b.tend()
		if v := b.is(r.Build, app.BuildOver); v.Message != want {
			b.Errorf("%s ends with %q, want %q", name, v.Message, want)
		}
	}
}
