package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/app/volume"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// diskCloud is a cloud that makes volumes, and forgets that it was asked before: two calls make two, as those of most clouds do.
type diskCloud struct {
	*fake.Cloud
	mu    sync.Mutex
	disks map[string]family.Volume
	made  int
	spoil int            // so many volumes fail
	lose  map[string]int // by call: how many answers are lost
}

func (d *diskCloud) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return d, nil
}

// lost ends a call that did what it was asked to, but whose answer doesn't arrive.
func (d *diskCloud) lost(call string) error {
	if d.lose[call] > 0 {
		d.lose[call]--
		return app.Errorf(app.ETransient, "the answer to %s is lost", call)
	}
	return nil
}

func (d *diskCloud) CreateVolume(_ context.Context, s family.VolumeSpec) (family.Volume, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made++
	v := family.Volume{ID: fmt.Sprintf("disk-%d", d.made), Name: s.Name, SizeGB: s.SizeGB, Zone: s.Zone, Tags: maps.Clone(s.Tags), Failed: d.spoil > 0}
	d.spoil--
	d.disks[v.ID] = v
	return v, d.lost("create")
}

func (d *diskCloud) ListVolumes(_ context.Context, tags map[string]string) (list []family.Volume, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(d.disks)) {
		v, fits := d.disks[id], true
		for k, want := range tags {
			fits = fits && v.Tags[k] == want
		}
		if fits {
			list = append(list, v)
		}
	}
	return list, nil
}

func (d *diskCloud) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.disks[at.Volume]
	if m, err := d.Describe(ctx, at.Machine); err != nil || v.Failed || m.Zone != v.Zone {
		return v, app.Errorf(app.EInvalid, "volume %+v can't be attached to a machine in %q (%v)", v, m.Zone, err)
	}
	if v.Machine != "" && v.Machine != at.Machine {
		return v, family.ErrVolumeAttached(v.ID, v.Machine)
	}
	v.Machine, v.Path = at.Machine, at.Mount
	d.disks[at.Volume] = v
	return v, d.lost("attach")
}

func (d *diskCloud) DetachVolume(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.disks[id]; ok {
		v.Machine = ""
		d.disks[id] = v
	}
	return d.lost("detach")
}

func (d *diskCloud) DeleteVolume(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := d.disks[id]; v.Machine != "" {
		return family.ErrVolumeAttached(id, v.Machine)
	}
	delete(d.disks, id)
	return d.lost("delete")
}

func (d *diskCloud) ids() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.disks))
}

// withDisks is an engine whose service back needs a volume.
func withDisks(t *testing.T, lose map[string]int) (*engine, *diskCloud) {
	d := &diskCloud{disks: map[string]family.Volume{}, lose: lose}
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		d.Cloud, e.clouds = e.cloud, d
		c.Services["back"].Volumes = []template.Volume{{Name: "data", SizeGB: 10, Mount: "/srv/data"}}
	})
	return e, d
}

func (e *engine) volumes(f volume.Filter) []volume.Volume {
	e.Helper()
	list, err := e.store.Volumes(e.ctx, app.DefaultTenant, f)
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// Whatever answer is lost, and whichever server is killed before it's written down: a node has one volume, and none is left of it.
func TestVolumesWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	e, d := withDisks(t, map[string]int{"create": 1, "attach": 1, "detach": 1, "delete": 1})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	if got := e.volumes(volume.Filter{}); len(got) != 1 || got[0].External != "disk-1" || got[0].State != volume.StateAttached {
		t.Errorf("the volumes are %+v", got)
	}
	if got := d.ids(); len(got) != 1 || d.disks[got[0]].Machine == "" {
		t.Errorf("the provider has %v", got)
	}
	e.delete(v.ID)
	if got := d.ids(); len(got) != 0 {
		t.Errorf("the provider still has %v", got)
	}
	if got := e.volumes(volume.Filter{Gone: true}); len(got) != 1 || got[0].State != volume.StateDeleted || got[0].Proof == "" {
		t.Errorf("the volumes are %+v", got)
	}
}

// The reconciler deletes kept volumes that someone deleted or that expired, and orphans; those that a row owns stay.
func TestReconcilerOfVolumes(t *testing.T) {
	t.Parallel()
	e, d := withDisks(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	stop := e.reconciler(func(r *reconcile.Reconciler) { r.Volumes, r.Providers = e.store, d })
	defer stop()

	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.disks["stray"] = family.Volume{ID: "stray", Tags: map[string]string{family.TagInstallation: installation, family.TagIntent: "vol-unknown"}}
	d.disks["foreign"] = family.Volume{ID: "foreign", Tags: map[string]string{family.TagInstallation: "another", family.TagIntent: "vol-unknown"}}
	d.mu.Unlock()
	e.comesAbout("the orphan is seen", func() bool { return len(e.orphans(false)) == 1 })
	e.passes(3)
	o := e.orphans(false)
	if len(o) != 1 || o[0].Machine != "stray" || o[0].Resource != fleet.ResourceVolume || o[0].Kind != fleet.OrphanUnknown || o[0].State != fleet.OrphanReported {
		t.Fatalf("orphans are %+v", o)
	}
	if _, err := e.app.Fleet.Machines.DecideOrphan(e.ctx, e.admin, o[0].ID, fleet.DecideDelete); err != nil {
		t.Fatal(err)
	}
	e.comesAbout("the orphan is deleted", func() bool { return !slices.Contains(d.ids(), "stray") && len(e.orphans(false)) == 0 })
	if got := d.ids(); !slices.Equal(got, []string{"disk-1", "foreign"}) {
		t.Errorf("the provider has %v", got)
	}

	if err := e.store.ChooseVolumes(e.ctx, e.admin, v.ID, template.VolumeKeep, time.Now()); err != nil {
		t.Fatal(err)
	}
	e.delete(v.ID)
	kept := e.volumes(volume.Filter{Kept: true})
	if len(kept) != 1 || kept[0].State != volume.StateKept || !slices.Contains(d.ids(), "disk-1") {
		t.Fatalf("kept is %+v of %v", kept, d.ids())
	}
	if _, err := e.store.ExtendVolume(e.ctx, e.admin, kept[0].ID, time.Now().Add(-time.Second), time.Now()); err != nil {
		t.Fatal(err)
	}
	e.comesAbout("the expired volume is deleted", func() bool {
		v, err := e.store.Volume(e.ctx, app.DefaultTenant, kept[0].ID)
		return err == nil && v.State == volume.StateDeleted && v.Proof != ""
	})
	if got := d.ids(); !slices.Equal(got, []string{"foreign"}) {
		t.Errorf("the provider has %v", got)
	}
}
