package conformance

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/family"
)

// member returns the powers of a member that speaks to a simulated endpoint; the test ends where it has none.
func (h copies[S]) member(t S, p family.Provider) (family.Volumes, family.VolumeSnapshots) {
	t.Helper()
	v, c := h.power(t, p)
	switch {
	case h.Faults == nil:
		t.Skip("the member uses no endpoint")
	case h.MakesSnapshot == nil:
		t.Fatal("the member makes snapshots: the harness must recognize the calls that make them")
	}
	return v, c
}

// lostAnswers holds CreateSnapshot and CreateVolumeFrom to one thing per intent, whatever becomes of the answer.
func (h copies[S]) lostAnswers(t S) {
	h.member(t, h.Open(t))
	for _, fault := range []Fault{Lost, Broken} {
		t.Run(string(fault), func(t S) {
			p := h.Open(t)
			v, c := h.member(t, p)
			disk := h.persist(t, v, VolumeSpec("lost", h.Zone))
			x := h.lostOnce(t, p, c, disk.ID, fault)
			h.lostVolume(t, p, x, fault)
			h.clear(t, v, c, disk.ID, x)
		})
	}
}

func (h copies[S]) lostOnce(t S, p family.Provider, c family.VolumeSnapshots, disk string, fault Fault) string {
	t.Helper()
	spec := SnapshotSpec("copy-"+string(fault), disk)
	h.Faults.Arm(fault, 1, h.MakesSnapshot)
	made, err := c.CreateSnapshot(t.Context(), spec)
	if h.Faults.Disarm() > 0 {
		t.Fatal("no call created a snapshot: the harness doesn't recognize it")
	}
	if err != nil {
		unclear(t, err)
	}
	again := h.copied(t, c, spec)
	if err == nil && again.ID != made.ID {
		t.Errorf("a repeated create made %s next to %s", again.ID, made.ID)
	}
	wait(t, family.ListsLate(p))
	h.wantSnapshots(t, c, spec.Tags, again.ID)
	return again.ID
}

// lostVolume loses the answer to the call that makes a volume of a snapshot.
func (h copies[S]) lostVolume(t S, p family.Provider, snapshot string, fault Fault) {
	t.Helper()
	v, c := h.member(t, p)
	spec := VolumeSpec("restored-"+string(fault), h.Zone)
	h.Faults.Arm(fault, 1, h.MakesVolume)
	_, err := c.CreateVolumeFrom(t.Context(), spec, snapshot)
	if h.Faults.Disarm() > 0 {
		t.Fatal("no call created a volume of a snapshot: the harness doesn't recognize it")
	}
	if err != nil {
		unclear(t, err)
	}
	wait(t, family.ListsLate(p))
	again, err := c.CreateVolumeFrom(t.Context(), spec, snapshot)
	if err != nil {
		t.Fatal(err)
	}
	h.onlyVolume(t, v, spec, again.ID)
}

// clear deletes a snapshot and its volume.
func (h copies[S]) clear(t S, v family.Volumes, c family.VolumeSnapshots, disk, snapshot string) {
	t.Helper()
	if err := c.DeleteSnapshot(t.Context(), snapshot); err != nil {
		t.Error(err)
	}
	if err := v.DeleteVolume(t.Context(), disk); err != nil {
		t.Error(err)
	}
	h.wantSnapshots(t, c, map[string]string{family.TagInstallation: Installation})
}

// late holds a member whose cloud lists late to one snapshot per intent: see disks.late.
func (h copies[S]) late(t S) {
	h.member(t, h.Open(t))
	if h.Late == nil {
		t.Skip("lists are immediately consistent")
	}
	for _, fault := range []Fault{"", Lost} {
		t.Run(fmt.Sprintf("requested again after an answer %s", fault), func(t S) {
			account, p := lists[S]{h.Harness}.lateAccount(t)
			v, c := h.member(t, p)
			disk := h.persist(t, v, VolumeSpec("late", h.Zone))
			if fault != "" {
				h.clear(t, v, c, disk.ID, h.lostOnce(t, p, c, disk.ID, fault))
				return
			}
			spec := SnapshotSpec("late-copy", disk.ID)
			made, again := h.copied(t, c, spec), h.copied(t, c, spec)
			if again.ID != made.ID {
				t.Errorf("a repeated create made %s next to %s", again.ID, made.ID)
			}
			other := account.Open()
			wait(t, family.ListsLate(other))
			_, elsewhere := h.member(t, other)
			if again := h.copied(t, elsewhere, spec); again.ID != made.ID {
				t.Errorf("another process made %s next to %s", again.ID, made.ID)
			}
			h.wantSnapshots(t, c, spec.Tags, made.ID)
			h.clear(t, v, c, disk.ID, made.ID)
		})
	}
}

// failures holds the verbs of snapshots to the codes of failures of the cloud's side.
func (h copies[S]) failures(t S) {
	p := h.Open(t)
	v, c := h.member(t, p)
	disk := h.persist(t, v, VolumeSpec("disk1", h.Zone))
	x := h.copied(t, c, SnapshotSpec("copy1", disk.ID))
	endpoint[S]{h.Harness}.failEach(t, map[string]func(context.Context) error{
		"create snapshot": func(ctx context.Context) error {
			_, err := c.CreateSnapshot(ctx, SnapshotSpec("copy2", disk.ID))
			return err
		},
		"list snapshots":  func(ctx context.Context) error { _, err := c.ListSnapshots(ctx, nil); return err },
		"delete snapshot": func(ctx context.Context) error { return c.DeleteSnapshot(ctx, x.ID) },
		"create volume from a snapshot": func(ctx context.Context) error {
			_, err := c.CreateVolumeFrom(ctx, VolumeSpec("disk2", h.Zone), x.ID)
			return err
		},
	})
	h.wantSnapshots(t, c, map[string]string{family.TagInstallation: Installation}, x.ID)
	h.clear(t, v, c, disk.ID, x.ID)
}

// spoiled holds a member to deleting and making again what its cloud failed to copy.
func (h copies[S]) spoiled(t S) {
	p := h.Open(t)
	v, c := h.member(t, p)
	if h.SpoilSnapshots == nil {
		t.Skip("snapshots of this cloud don't fail after they began")
	}
	disk := h.persist(t, v, VolumeSpec("disk1", h.Zone))
	h.SpoilSnapshots(t, 1)
	spec := SnapshotSpec("spoiled", disk.ID)
	for {
		x, err := c.CreateSnapshot(t.Context(), spec)
		if err == nil && x.Pending {
			time.Sleep(h.pause())
			continue
		}
		wantCode(t, "a snapshot that failed", err, app.ETransient)
		break
	}
	x := h.copied(t, c, spec)
	h.wantSnapshots(t, c, spec.Tags, x.ID)
	h.clear(t, v, c, disk.ID, x.ID)
}
