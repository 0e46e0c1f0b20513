package conformance

import (
	"muster/app"
	"muster/app/family"
)

// atCreation holds a member whose machines only have the volumes that they are created with.
func (h disks[S]) atCreation(t S, p family.Provider, v family.Volumes) {
	ctx := t.Context()
	spec := VolumeSpec("disk1", h.Zone)
	if _, err := v.CreateVolume(done(t), spec); err == nil {
		t.Error("a volume is created with a cancelled context")
	}
	made, other := h.persist(t, v, spec), h.persist(t, v, VolumeSpec("disk2", h.Zone))
	if again := h.persist(t, v, spec); again.ID != made.ID || other.ID == made.ID {
		t.Fatalf("one intent requested twice is volumes %s and %s, another is %s", made.ID, again.ID, other.ID)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	h.lookedUp(t, p, made)
	if all := h.listVolumes(t, v, map[string]string{family.TagInstallation: Installation}); len(all) != 2 {
		t.Errorf("of 2 volumes the list shows %d", len(all))
	}
	specA, keys := h.Spec(t, "with-volume")
	specA.Volumes = []family.VolumeAttachment{{Volume: made.ID, Mount: h.mount()}}
	a := h.eventually(t, p, create(t, p, specA).ID)
	h.wantVolume(t, v, spec.Tags, made.ID, a.ID)
	h.looksOnly(t, p, v, made.ID, other.ID, a.ID)
	h.heldVolume(t, p, v, made.ID)
	h.wantVolume(t, v, spec.Tags, made.ID, a.ID)
	if h.Login {
		h.ask(t, a, keys, "echo kept >"+h.mount()+"/file")
	}
	h.asleep(t, p, v, spec, made.ID, a.ID)
	if err := p.Delete(ctx, a.ID); err != nil {
		t.Fatalf("delete the machine: %v", err)
	}
	h.wantVolume(t, v, spec.Tags, made.ID, "")
	h.nextMachine(t, p, v, made.ID)
	for _, id := range []string{made.ID, other.ID, made.ID, h.absentVolume()} {
		if err := v.DeleteVolume(ctx, id); err != nil {
			t.Errorf("delete volume %s: %v", id, err)
		}
	}
	h.noVolumes(t, v)
}

// looksOnly holds AttachVolume to telling what a machine was created with.
func (h disks[S]) looksOnly(t S, p family.Provider, v family.Volumes, made, other, machine string) {
	t.Helper()
	for range 2 {
		h.attach(t, v, made, machine)
	}
	try := func(volume, machine string) error {
		_, err := v.AttachVolume(t.Context(), family.VolumeAttachment{Volume: volume, Machine: machine, Mount: h.mount()})
		return err
	}
	wantCode(t, "attaching an absent volume", try(h.absentVolume(), machine), app.ENotFound)
	wantCode(t, "attaching to an absent machine", try(other, h.absentMachine()), app.ENotFound)
	e := app.AsError(try(other, machine))
	if e.Code != app.EConflict || e.Reason != family.ReasonVolumeAtCreation {
		t.Errorf("a volume that the machine was created without: %v", e)
	}
	spec, _ := h.Spec(t, "without-volume")
	without := create(t, p, spec)
	h.wantAttached(t, "attaching to a second machine", try(made, without.ID))
	if err := p.Delete(t.Context(), without.ID); err != nil {
		t.Error(err)
	}
}

// heldVolume holds a member to leaving a volume alone that a machine has, and to making no machine that can't have its volumes.
func (h disks[S]) heldVolume(t S, p family.Provider, v family.Volumes, made string) {
	t.Helper()
	h.wantAttached(t, "deleting an attached volume", v.DeleteVolume(t.Context(), made))
	h.wantAttached(t, "detaching a volume of a machine", v.DetachVolume(t.Context(), made))
	if err := v.DetachVolume(t.Context(), h.absentVolume()); err != nil {
		t.Errorf("detaching an absent volume: %v", err)
	}
	spec, _ := h.Spec(t, "second")
	for _, id := range []string{made, h.absentVolume()} {
		spec.Volumes = []family.VolumeAttachment{{Volume: id, Mount: h.mount()}}
		_, err := p.Create(t.Context(), spec)
		wantCode(t, "creating a machine with volume "+id, err, app.EConflict)
	}
	if ms := list(t, p, map[string]string{family.TagInstallation: Installation, family.TagIntent: "second"}); len(ms) != 0 {
		t.Errorf("machines without their volumes: %+v", ms)
	}
}

// asleep holds a machine to keeping its volume while it is stopped.
func (h disks[S]) asleep(t S, p family.Provider, v family.Volumes, spec family.VolumeSpec, made, machine string) {
	t.Helper()
	s, ok := family.PowerOf[family.Sleeper](p)
	if !ok {
		return
	}
	if err := s.Sleep(t.Context(), machine); err != nil {
		t.Fatalf("sleep: %v", err)
	}
	h.wantVolume(t, v, spec.Tags, made, machine)
	h.wantAttached(t, "deleting a volume of a stopped machine", v.DeleteVolume(t.Context(), made))
	if err := s.Wake(t.Context(), machine); err != nil {
		t.Fatalf("wake: %v", err)
	}
	h.attach(t, v, made, machine)
}

// nextMachine finds on another machine what the first has written, and deletes it.
func (h disks[S]) nextMachine(t S, p family.Provider, v family.Volumes, made string) {
	t.Helper()
	spec, keys := h.Spec(t, "next-machine")
	spec.Volumes = []family.VolumeAttachment{{Volume: made, Mount: h.mount()}}
	m := h.eventually(t, p, create(t, p, spec).ID)
	h.attach(t, v, made, m.ID)
	if h.Login {
		if got := h.ask(t, m, keys, "cat "+h.mount()+"/file"); got != "kept" {
			t.Errorf("on the next machine the file has %q", got)
		}
	}
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if err := v.DetachVolume(t.Context(), made); err != nil {
		t.Errorf("detaching a volume that no machine has: %v", err)
	}
}
