package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/app/volume"
	"muster/jobs/reconcile"
)

// copyCloud is a diskCloud that makes snapshots. As most clouds do, it makes one for each call.
type copyCloud struct {
	*diskCloud
	copies  map[string]family.Snapshot
	pending int    // so many looks at a snapshot before it is whole
	during  func() // while the first is made
}

func (c *copyCloud) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return c, nil
}

func (c *copyCloud) CreateSnapshot(_ context.Context, s family.SnapshotSpec) (family.Snapshot, error) {
	if during := c.during; during != nil {
		c.during = nil
		during()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	x := family.Snapshot{ID: fmt.Sprintf("copy-%d", c.made), SizeGB: 10, Tags: maps.Clone(s.Tags), Pending: c.pending > 0}
	c.copies[x.ID] = x
	return x, nil
}

func (c *copyCloud) ListSnapshots(_ context.Context, tags map[string]string) (list []family.Snapshot, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
	for _, id := range slices.Sorted(maps.Keys(c.copies)) {
		x, fits := c.copies[id], true
		for k, want := range tags {
			fits = fits && x.Tags[k] == want
		}
		if x.Pending = c.pending > 0; fits {
			list = append(list, x)
		}
	}
	return list, nil
}

func (c *copyCloud) DeleteSnapshot(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.copies, id)
	return nil
}

func (c *copyCloud) CreateVolumeFrom(ctx context.Context, s family.VolumeSpec, _ string) (family.Volume, error) {
	return c.CreateVolume(ctx, s)
}

func (c *copyCloud) has() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.copies))
}

// A snapshot is created once, however long its cloud copies. One whose row was deleted, and proven to be gone, just
// before it was there is deleted. Orphans are found, and deleted when someone says so.
func TestReconcilerOfSnapshots(t *testing.T) {
	t.Parallel()
	e, d := withDisks(t, nil)
	e.want(e.await(e.create(2).ID), app.ClusterActive)
	disk := e.volumes(volume.Filter{})[0]
	c := &copyCloud{diskCloud: d, copies: map[string]family.Snapshot{}, pending: 8}
	defer e.reconciler(func(r *reconcile.Reconciler) { r.Volumes, r.Snapshots, r.Providers = e.store, e.store, c })()
	ask := func() volume.Snapshot {
		x, err := e.store.CreateSnapshot(e.ctx, e.admin, disk.ID, 3, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	state := func(x volume.Snapshot) volume.SnapshotState {
		x, err := e.store.Snapshot(e.ctx, app.DefaultTenant, x.ID)
		if err != nil {
			t.Fatal(err)
		}
		return x.State
	}
	first := ask()
	e.comesAbout("the snapshot is ready", func() bool { return state(first) == volume.SnapshotReady })
	one := c.has()
	if len(one) != 1 {
		t.Errorf("the provider has %v", one)
	}

	gone := make(chan volume.Snapshot, 1)
	c.mu.Lock()
	c.during = func() {
		due, _ := e.store.DueSnapshots(e.ctx, 10)
		_, _ = e.store.DeleteSnapshot(e.ctx, e.admin, due[0].ID, time.Now())
		_ = e.store.SnapshotGone(e.ctx, due[0].ID, time.Now(), "Another server listed none.", "")
		gone <- due[0]
	}
	c.mu.Unlock()
	ask()
	if x := <-gone; state(x) != volume.SnapshotDeleted {
		t.Errorf("it is %s", state(x))
	}
	e.comesAbout("what was made too late is deleted", func() bool { return c.diskCloud.made >= 3 && slices.Equal(c.has(), one) })
	e.orphanedSnapshots(c, one)
}

// orphanedSnapshots has a snapshot that no row knows found, and deleted once someone says so.
func (e *engine) orphanedSnapshots(c *copyCloud, one []string) {
	e.Helper()
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	c.mu.Lock()
	for id, owner := range map[string]string{"stray": installation, "foreign": "another"} {
		c.copies[id] = family.Snapshot{ID: id, Tags: map[string]string{family.TagInstallation: owner, family.TagIntent: "snap-unknown"}}
	}
	c.mu.Unlock()
	e.comesAbout("the orphan is seen", func() bool { return len(e.orphans(false)) == 1 })
	e.passes(3)
	o := e.orphans(false)
	if len(o) != 1 || o[0].Machine != "stray" || o[0].Resource != fleet.ResourceSnapshot || o[0].State != fleet.OrphanReported {
		e.Fatalf("orphans are %+v", o)
	}
	if _, err := e.app.Fleet.Machines.DecideOrphan(e.ctx, e.admin, o[0].ID, fleet.DecideDelete); err != nil {
		e.Fatal(err)
	}
	e.comesAbout("the orphan is deleted", func() bool { return !slices.Contains(c.has(), "stray") && len(e.orphans(false)) == 0 })
	if got := c.has(); !slices.Equal(got, append(one, "foreign")) {
		e.Errorf("the provider has %v", got)
	}
}
