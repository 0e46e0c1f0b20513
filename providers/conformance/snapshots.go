package conformance

import (
	"time"

	"muster/app"
	"muster/app/family"
)

// copies is the promises about snapshots of volumes.
type copies[S T[S]] struct{ disks[S] }

// SnapshotSpec makes a spec of a snapshot for an intent.
func SnapshotSpec(intent, volume string) family.SnapshotSpec {
	return family.SnapshotSpec{Intent: intent, Name: "muster-" + intent, Volume: volume, Tags: VolumeSpec(intent, "").Tags}
}

// power returns what makes snapshots; the test ends where nothing does.
func (h copies[S]) power(t S, p family.Provider) (family.Volumes, family.VolumeSnapshots) {
	t.Helper()
	c, ok := family.PowerOf[family.VolumeSnapshots](p)
	if !ok {
		t.Skip("the member makes no snapshots of volumes")
	}
	v, ok := family.PowerOf[family.Volumes](p)
	if !ok {
		t.Fatal("the member makes snapshots, and no volumes")
	}
	return v, c
}

// snapshots holds a member that is a family.VolumeSnapshots to what that promises.
func (h copies[S]) snapshots(t S) {
	p := h.Open(t)
	v, c := h.power(t, p)
	ctx := t.Context()
	spec, keys := h.Spec(t, "is-copied")
	m := h.eventually(t, p, create(t, p, spec).ID)
	h.absentSnapshot(t, c, m.Zone)
	disk, err := v.CreateVolume(ctx, VolumeSpec("disk1", m.Zone))
	if err != nil {
		t.Fatal(err)
	}
	h.attach(t, v, disk.ID, m.ID)
	first, second := h.twoCopies(t, c, disk.ID, func(text string) {
		if h.Login {
			h.ask(t, m, keys, "echo "+text+" >"+h.mount()+"/file && sync")
		}
	})
	h.wantVolume(t, v, VolumeSpec("disk1", m.Zone).Tags, disk.ID, m.ID)
	h.outlives(t, p, disk, m, first)
	for _, id := range []string{first.ID, second.ID, first.ID} {
		if err := c.DeleteSnapshot(ctx, id); err != nil {
			t.Errorf("delete snapshot %s: %v", id, err)
		}
	}
	h.wantSnapshots(t, c, map[string]string{family.TagInstallation: Installation})
	_, err = c.CreateVolumeFrom(ctx, VolumeSpec("disk4", m.Zone), first.ID)
	wantCode(t, "a volume of a deleted snapshot", err, app.ENotFound)
	if err := p.Delete(ctx, m.ID); err != nil {
		t.Errorf("delete the machine: %v", err)
	}
}

// absentSnapshot asks for what is made of nothing.
func (h copies[S]) absentSnapshot(t S, c family.VolumeSnapshots, zone string) {
	t.Helper()
	if err := c.DeleteSnapshot(t.Context(), h.NoSnapshot); err != nil {
		t.Errorf("deletion of an absent snapshot: %v", err)
	}
	_, err := c.CreateSnapshot(t.Context(), SnapshotSpec("copy0", h.absentVolume()))
	wantCode(t, "a snapshot of an absent volume", err, app.ENotFound)
	_, err = c.CreateVolumeFrom(t.Context(), VolumeSpec("disk0", zone), h.NoSnapshot)
	wantCode(t, "a volume of an absent snapshot", err, app.ENotFound)
}

// twoCopies makes a snapshot of a volume with "first" and one with "second".
func (h copies[S]) twoCopies(t S, c family.VolumeSnapshots, disk string, write func(string)) (first, second family.Snapshot) {
	t.Helper()
	write("first")
	wanted := SnapshotSpec("copy1", disk)
	if _, err := c.CreateSnapshot(done(t), wanted); err == nil {
		t.Error("a snapshot is created with a cancelled context")
	}
	first = h.copied(t, c, wanted)
	write("second")
	if again := h.copied(t, c, wanted); again.ID != first.ID {
		t.Fatalf("one intent requested twice is snapshots %s and %s", first.ID, again.ID)
	}
	second = h.copied(t, c, SnapshotSpec("copy2", disk))
	if second.ID == first.ID {
		t.Errorf("another intent is snapshot %s, too", second.ID)
	}
	h.wantSnapshots(t, c, wanted.Tags, first.ID)
	h.wantSnapshots(t, c, map[string]string{family.TagInstallation: Installation}, first.ID, second.ID)
	h.wantSnapshots(t, c, map[string]string{family.TagInstallation: Installation, family.TagIntent: "copy3"})
	return first, second
}

// outlives makes volumes of a snapshot whose volume is deleted, and deletes them.
func (h copies[S]) outlives(t S, p family.Provider, disk family.Volume, m family.Machine, x family.Snapshot) {
	t.Helper()
	v, _ := h.power(t, p)
	if err := v.DetachVolume(t.Context(), disk.ID); err != nil {
		t.Fatal(err)
	}
	if err := v.DeleteVolume(t.Context(), disk.ID); err != nil {
		t.Fatalf("delete a volume with snapshots: %v", err)
	}
	next, keys := h.Spec(t, "has-copy")
	next.Zone = m.Zone
	b := h.eventually(t, p, create(t, p, next).ID)
	larger, least := VolumeSpec("disk2", b.Zone), VolumeSpec("disk3", b.Zone)
	larger.SizeGB, least.SizeGB = x.SizeGB+5, 1
	for _, spec := range []family.VolumeSpec{larger, least} {
		made := h.restored(t, p, spec, x)
		if made.Zone != disk.Zone {
			t.Errorf("the volume was in %q, and the new one is in %q", disk.Zone, made.Zone)
		}
		h.attach(t, v, made.ID, b.ID)
		if h.Login {
			if got := h.ask(t, b, keys, "cat "+h.mount()+"/file"); got != "first" {
				t.Errorf("of a snapshot with %q the volume has %q", "first", got)
			}
		}
		if err := v.DetachVolume(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if err := v.DeleteVolume(t.Context(), made.ID); err != nil {
			t.Errorf("delete a volume of a snapshot: %v", err)
		}
	}
	if err := p.Delete(t.Context(), b.ID); err != nil {
		t.Errorf("delete the machine: %v", err)
	}
}

// restored makes a volume of a snapshot, once.
func (h copies[S]) restored(t S, p family.Provider, spec family.VolumeSpec, x family.Snapshot) family.Volume {
	t.Helper()
	v, c := h.power(t, p)
	made, err := c.CreateVolumeFrom(t.Context(), spec, x.ID)
	if err != nil {
		t.Fatalf("create a volume of a snapshot: %v", err)
	}
	if again, err := c.CreateVolumeFrom(t.Context(), spec, x.ID); err != nil || again.ID != made.ID {
		t.Errorf("one intent requested twice is volumes %s and %s, %v", made.ID, again.ID, err)
	}
	if made.SizeGB < max(spec.SizeGB, x.SizeGB) {
		t.Errorf("of a snapshot of %d GB, asked for %d GB: %+v", x.SizeGB, spec.SizeGB, made)
	}
	if h.SnapshotOf != nil && h.SnapshotOf(t, made.ID) != x.ID {
		t.Errorf("volume %s is made of %q, not of snapshot %s", made.ID, h.SnapshotOf(t, made.ID), x.ID)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	return made
}

// copied asks for a snapshot until it is whole.
func (h copies[S]) copied(t S, c family.VolumeSnapshots, spec family.SnapshotSpec) family.Snapshot {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		x, err := c.CreateSnapshot(t.Context(), spec)
		if err == nil && !x.Pending {
			if x.Failed || x.ID == "" || x.SizeGB < 1 {
				t.Errorf("snapshot %s is %+v", spec.Intent, x)
			}
			return x
		}
		if err != nil && app.CodeOf(err) != app.ETransient || time.Now().After(deadline) {
			t.Fatalf("create snapshot %s: %+v, %v", spec.Intent, x, err)
		}
	}
}

// wantSnapshots wants just these snapshots with the tags.
func (h copies[S]) wantSnapshots(t S, c family.VolumeSnapshots, tags map[string]string, ids ...string) {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		list, err := c.ListSnapshots(t.Context(), tags)
		if err != nil {
			t.Fatalf("list snapshots %v: %v", tags, err)
		}
		has := map[string]bool{}
		for _, x := range list {
			has[x.ID] = true
			for k, tag := range tags {
				if x.Tags[k] != tag {
					t.Errorf("snapshot %s has tag %s=%q, want %q", x.ID, k, x.Tags[k], tag)
				}
			}
		}
		all := len(has) == len(ids) && len(list) == len(ids)
		for _, id := range ids {
			all = all && has[id]
		}
		if all {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the list shows %+v, want %v", list, ids)
		}
	}
}
