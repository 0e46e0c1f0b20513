package volume

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/volume"
)

// detach has a step find out that no machine has a volume.
func (t *storeTest) detach(id string) { t.seen(volume.Seen{ID: id, External: "disk-1"}) }

// snapshotMade says what came of a creation that is still wanted.
func (t *storeTest) snapshotMade(id, external, failure string) {
	t.Helper()
	if held, err := t.Store.SnapshotMade(t.Ctx, id, external, failure); err != nil || !held {
		t.Fatalf("snapshot %s: held %t, %v", id, held, err)
	}
}

// seen has a step of the node find something out about its volume.
func (t *storeTest) seen(x volume.Seen) {
	t.Helper()
	t.Update("web-1", kit.Steps(app.OperationRemoveServices, "n1.start"), t.Change("web-1"))
	t.end(t.Claim("w"), execution.Finish{Volumes: []volume.Seen{x}})
}

// made has the due snapshots made, as two servers do, and returns the ready ones, the newest first.
func (t *storeTest) made() (ready []volume.Snapshot) {
	t.Helper()
	for range 2 {
		t.Must(t.Store.ScheduleSnapshots(t.Ctx, t.Clock.Now(), 10))
	}
	due, err := t.Store.DueSnapshots(t.Ctx, 10)
	t.Must(err)
	for _, x := range due {
		if x.State == volume.SnapshotCreating {
			t.snapshotMade(x.ID, "copy-"+x.ID, "")
		}
	}
	all, err := t.Store.Snapshots(t.Ctx, kit.Tenant, volume.SnapshotFilter{})
	t.Must(err)
	for _, x := range all {
		if x.State == volume.SnapshotReady {
			ready = append(ready, x)
		}
	}
	return ready
}

func (t *storeTest) count(want int, when string) []volume.Snapshot {
	t.Helper()
	ready := t.made()
	if len(ready) != want {
		t.Errorf("%s: %d snapshots, not %d: %+v", when, len(ready), want, ready)
	}
	return ready
}

func (t *storeTest) schedule() {
	v := t.attach(template.VolumeKeep)
	own, err := t.Store.CreateSnapshot(t.Ctx, kit.Boss, v.ID, 1, t.Clock.Now())
	t.Must(err)
	t.snapshotMade(own.ID, "copy-own", "")
	eve := app.Actor{Tenant: "other", User: "eve"}
	daily := template.Snapshots{Every: "24h", Keep: 2}
	t.Code(kit.Err(t.Store.SetSnapshots(t.Ctx, eve, v.ID, daily, t.Clock.Now())), app.ENotFound)
	got, err := t.Store.SetSnapshots(t.Ctx, kit.Boss, v.ID, daily, t.Clock.Now())
	t.Must(err)
	if got.Snapshots != daily || !got.NextSnapshot.Equal(t.Clock.Now().Add(24*time.Hour)) {
		t.Errorf("the schedule is %+v", got)
	}
	t.count(1, "before it's due")
	for i, want := range []int{2, 3, 3} { // own is never deleted by the schedule
		t.Clock.Move(24 * time.Hour)
		ready := t.count(want, fmt.Sprint("on day ", i+1))
		if !ready[0].Scheduled || ready[len(ready)-1].ID != own.ID {
			t.Errorf("on day %d there are %+v", i+1, ready)
		}
	}

	// A volume that no machine has is copied once, until one has it again.
	t.detach(v.ID)
	t.Clock.Move(24 * time.Hour)
	last := t.count(3, "detached")[0]
	t.Clock.Move(5 * 24 * time.Hour)
	if ready := t.count(3, "unchanged"); ready[0].ID != last.ID {
		t.Errorf("what didn't change is copied again: %+v", ready[0])
	}
	t.seen(volume.Seen{ID: v.ID, External: "disk-1", Machine: "m-n1", Mounted: true})
	if ready := t.count(3, "just attached"); ready[0].ID != last.ID {
		t.Errorf("what wasn't written to yet is copied: %+v", ready[0])
	}
	t.Clock.Move(24 * time.Hour)
	if ready := t.count(3, "in use again"); ready[0].ID == last.ID {
		t.Error("a volume in use isn't copied")
	}
	t.keepFor(v.ID)
	t.failed(v.ID)
}

// keepFor has snapshots expire, but for the newest of a volume that isn't used.
func (t *storeTest) keepFor(id string) {
	t.Helper()
	_, err := t.Store.SetSnapshots(t.Ctx, kit.Boss, id, template.Snapshots{Every: "0 2 * * *", KeepFor: "2d"}, t.Clock.Now())
	t.Must(err)
	for range 5 {
		t.Clock.Move(24 * time.Hour)
		t.made()
	}
	t.count(3, "two of the last two days, and an own one")
	t.detach(id)
	t.Clock.Move(24 * time.Hour)
	t.made()
	t.Clock.Move(30 * 24 * time.Hour)
	t.count(2, "the newest stays while the volume isn't used")
	_, err = t.Store.SetSnapshots(t.Ctx, kit.Boss, id, template.Snapshots{}, t.Clock.Now())
	t.Must(err)
	t.Clock.Move(30 * 24 * time.Hour)
	t.made()
	t.count(2, "the newest stays without a schedule")
	_, err = t.Store.SetSnapshots(t.Ctx, kit.Boss, id, template.Snapshots{Every: "0 2 * * *", KeepFor: "2d"}, t.Clock.Now())
	t.Must(err)
}

// failed has the owner notified of a failure, once.
func (t *storeTest) failed(id string) {
	t.Helper()
	t.seen(volume.Seen{ID: id, External: "disk-1", Machine: "m-n1", Mounted: true})
	t.Clock.Move(24 * time.Hour)
	t.Must(t.Store.ScheduleSnapshots(t.Ctx, t.Clock.Now(), 10))
	due, err := t.Store.DueSnapshots(t.Ctx, 20)
	t.Must(err)
	for range 2 {
		for _, x := range due {
			if x.State == volume.SnapshotCreating {
				t.snapshotMade(x.ID, "", "The quota is used up.")
			}
		}
	}
	t.notified(1, "couldn't be created", "The quota is used up.")
}

// notified looks for the notices whose title holds a text.
func (t *storeTest) notified(want int, title, text string) {
	t.Helper()
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 1000)
	t.Must(err)
	n := 0
	for _, x := range all {
		if strings.Contains(x.Title, title) {
			n++
			if !strings.Contains(x.Text, text) || len(x.Users) != 1 {
				t.Errorf("the notice is %+v", x)
			}
		}
	}
	if n != want {
		t.Errorf("%d notices %q, not %d", n, title, want)
	}
}

func (t *storeTest) expiring() {
	v := t.attach(template.VolumeKeep)
	t.drop()
	until := t.is(v.ID, volume.StateKept).ExpiresAt
	notify := func() {
		for range 2 { // as of two servers
			t.Must(t.Store.NotifyExpiring(t.Ctx, t.Clock.Now(), 10))
		}
	}
	notify()
	t.notified(0, "expires on", "")
	t.Clock.Move(until.Sub(t.Clock.Now()) - time.Hour)
	notify()
	t.notified(1, "expires on", "muster volume extend "+v.ID)
	_, err := t.Store.ExtendVolume(t.Ctx, kit.Boss, v.ID, t.Clock.Now().Add(30*24*time.Hour), t.Clock.Now())
	t.Must(err)
	notify()
	t.notified(1, "expires on", "")
	t.Clock.Move(29 * 24 * time.Hour)
	notify()
	t.notified(2, "expires on", "")
}
