package conformance

import (
	"cmp"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

// disks is the promises about volumes.
type disks[S T[S]] struct{ Harness[S] }

// VolumeSpec makes a spec of a volume for an intent.
func VolumeSpec(intent, zone string) family.VolumeSpec {
	return family.VolumeSpec{Intent: intent, Name: "muster-" + intent, SizeGB: 10, Zone: zone, Tags: map[string]string{family.TagInstallation: Installation,
		family.TagTenant: "acme", family.TagCluster: "c1", family.TagNode: "n1", family.TagIntent: intent}}
}

// volumes holds a member that is a family.Volumes to what that promises.
func (h disks[S]) volumes(t S) {
	p := h.Open(t)
	v, ok := family.PowerOf[family.Volumes](p)
	if !ok {
		t.Skip("the member makes no volumes")
	}
	if h.VolumesAtCreation {
		h.atCreation(t, p, v)
		return
	}
	ctx := t.Context()
	if err := v.DeleteVolume(ctx, h.absentVolume()); err != nil {
		t.Errorf("deletion of an absent volume: %v", err)
	}
	if err := v.DetachVolume(ctx, h.absentVolume()); err != nil {
		t.Errorf("detaching an absent volume: %v", err)
	}
	specA, keysA := h.Spec(t, "with-volume")
	a := h.eventually(t, p, create(t, p, specA).ID)
	specB, keysB := h.Spec(t, "next-machine")
	specB.Zone = a.Zone
	b := h.eventually(t, p, create(t, p, specB).ID)

	spec := VolumeSpec("disk1", a.Zone)
	if _, err := v.CreateVolume(done(t), spec); err == nil {
		t.Error("a volume is created with a cancelled context")
	}
	made, err := v.CreateVolume(ctx, spec)
	if err != nil {
		t.Fatalf("create a volume: %v", err)
	}
	again, err := v.CreateVolume(ctx, spec)
	if err != nil || again.ID != made.ID {
		t.Fatalf("one intent requested twice is volumes %s and %s, %v", made.ID, again.ID, err)
	}
	other, err := v.CreateVolume(ctx, VolumeSpec("disk2", a.Zone))
	if err != nil || other.ID == made.ID {
		t.Fatalf("another intent is volume %s, too: %v", other.ID, err)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	h.lookedUp(t, p, made)
	if all := h.listVolumes(t, v, map[string]string{family.TagInstallation: Installation}); len(all) != 2 {
		t.Errorf("of 2 volumes the list shows %d", len(all))
	}
	if none := h.listVolumes(t, v, map[string]string{family.TagInstallation: Installation, family.TagIntent: "disk3"}); len(none) != 0 {
		t.Errorf("another intent's volumes: %+v", none)
	}

	_, err = v.AttachVolume(ctx, family.VolumeAttachment{Volume: h.absentVolume(), Machine: a.ID, Mount: h.mount()})
	wantCode(t, "attaching an absent volume", err, app.ENotFound)
	_, err = v.AttachVolume(ctx, family.VolumeAttachment{Volume: made.ID, Machine: h.absentMachine(), Mount: h.mount()})
	wantCode(t, "attaching to an absent machine", err, app.ENotFound)
	for range 2 {
		h.attach(t, v, made.ID, a.ID)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, a.ID)
	_, err = v.AttachVolume(ctx, family.VolumeAttachment{Volume: made.ID, Machine: b.ID, Mount: h.mount()})
	h.wantAttached(t, "attaching to a second machine", err)
	h.wantAttached(t, "deleting an attached volume", v.DeleteVolume(ctx, made.ID))
	h.wantVolume(t, v, spec.Tags, made.ID, a.ID)
	if h.Login {
		h.ask(t, a, keysA, "echo kept >"+h.mount()+"/file && sync")
	}

	for range 2 {
		if err := v.DetachVolume(ctx, made.ID); err != nil {
			t.Fatalf("detach: %v", err)
		}
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	h.attach(t, v, made.ID, b.ID)
	if h.Login {
		if got := h.ask(t, b, keysB, "cat "+h.mount()+"/file"); got != "kept" {
			t.Errorf("on the next machine the file has %q", got)
		}
	}

	// The end of its machine leaves a volume, detached.
	if err := p.Delete(ctx, b.ID); err != nil {
		t.Fatalf("delete the machine: %v", err)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	h.attach(t, v, made.ID, a.ID)
	if h.Login {
		if got := h.ask(t, a, keysA, "cat "+h.mount()+"/file"); got != "kept" {
			t.Errorf("after its machine was deleted the file has %q", got)
		}
	}
	if err := v.DetachVolume(ctx, made.ID); err != nil {
		t.Fatalf("detach at the end: %v", err)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	for _, id := range []string{made.ID, other.ID, made.ID} {
		if err := v.DeleteVolume(ctx, id); err != nil {
			t.Errorf("delete volume %s: %v", id, err)
		}
	}
	h.noVolumes(t, v)
	if err := p.Delete(ctx, a.ID); err != nil {
		t.Errorf("delete the other machine: %v", err)
	}
}

// noVolumes waits until the list shows none.
func (h disks[S]) noVolumes(t S, v family.Volumes) {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		left := h.listVolumes(t, v, map[string]string{family.TagInstallation: Installation})
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after deletion the list shows %+v", left)
		}
	}
}

// mount is where the suite wants volumes.
func (h disks[S]) mount() string { return cmp.Or(h.Mount, "/srv/suite") }

// absentVolume and absentMachine are ids in the cloud's form that it doesn't have.
func (h disks[S]) absentVolume() string { return cmp.Or(h.NoVolume, "no-such-volume") }

func (h disks[S]) absentMachine() string { return cmp.Or(h.NoMachine, "no-such-machine") }

func (h disks[S]) attach(t S, v family.Volumes, volume, machine string) {
	t.Helper()
	got, err := v.AttachVolume(t.Context(), family.VolumeAttachment{Volume: volume, Machine: machine, Mount: h.mount()})
	if err != nil {
		t.Fatalf("attach %s to %s: %v", volume, machine, err)
	}
	if got.ID != volume || got.Machine != machine || (got.Device == "") == (got.Path == "") {
		t.Errorf("attached %s to %s, and the answer is %+v", volume, machine, got)
	}
}

func (h disks[S]) wantAttached(t S, what string, err error) {
	t.Helper()
	if e := app.AsError(err); err == nil || e.Code != app.EConflict || e.Reason != family.ReasonVolumeAttached {
		t.Errorf("%s: %v, want conflict with reason %s", what, err, family.ReasonVolumeAttached)
	}
}

func (h disks[S]) listVolumes(t S, v family.Volumes, tags map[string]string) []family.Volume {
	t.Helper()
	list, err := v.ListVolumes(t.Context(), tags)
	if err != nil {
		t.Fatalf("list volumes %v: %v", tags, err)
	}
	return list
}

// wantVolume wants just one volume with the tags, on a machine. A cloud may take a while to show what follows from a machine's end.
func (h disks[S]) wantVolume(t S, v family.Volumes, tags map[string]string, id, machine string) {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		list := h.listVolumes(t, v, tags)
		if len(list) == 1 && list[0].ID == id && list[0].Machine == machine {
			for k, tag := range tags {
				if list[0].Tags[k] != tag {
					t.Errorf("volume %s has tag %s=%q, want %q", id, k, list[0].Tags[k], tag)
				}
			}
			if list[0].SizeGB < 10 {
				t.Errorf("volume %s has %d GB, want at least 10", id, list[0].SizeGB)
			}
			return
		}
		if time.Now().After(deadline) {
			ids := []string{}
			for _, x := range list {
				ids = append(ids, x.ID+" on "+cmp.Or(x.Machine, "nothing"))
			}
			slices.Sort(ids)
			t.Fatalf("the list shows %v, want %s on %s", ids, id, cmp.Or(machine, "nothing"))
		}
	}
}

// lookedUp holds a member that looks up volumes by their ids to what lists say.
func (h disks[S]) lookedUp(t S, p family.Provider, made family.Volume) {
	t.Helper()
	one, ok := family.PowerOf[family.VolumeGetter](p)
	if !ok {
		return
	}
	_, err := one.Volume(t.Context(), h.absentVolume())
	wantCode(t, "looking up an absent volume", err, app.ENotFound)
	got, err := one.Volume(t.Context(), made.ID)
	if err != nil || got.ID != made.ID || got.Zone != made.Zone || got.SizeGB != made.SizeGB || got.Tags[family.TagIntent] != made.Tags[family.TagIntent] {
		t.Errorf("volume %+v is looked up as %+v, %v", made, got, err)
	}
}
