package conformance

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/family"
)

// member returns the power of a member that speaks to a simulated endpoint; the test ends where it has none.
func (h disks[S]) member(t S, p family.Provider) family.Volumes {
	t.Helper()
	v, ok := family.PowerOf[family.Volumes](p)
	switch {
	case !ok:
		t.Skip("the member makes no volumes")
	case h.Faults == nil:
		t.Skip("the member uses no endpoint")
	case h.MakesVolume == nil:
		t.Fatal("the member makes volumes: the harness must recognize the calls that make them")
	}
	return v
}

// lostAnswers holds CreateVolume to one volume per intent, whatever becomes of the answer.
func (h disks[S]) lostAnswers(t S) {
	h.member(t, h.Open(t))
	for _, fault := range []Fault{Lost, Broken} {
		t.Run(string(fault), func(t S) {
			p := h.Open(t)
			v := h.member(t, p)
			h.lostOnce(t, p, v, fault)
		})
	}
}

func (h disks[S]) lostOnce(t S, p family.Provider, v family.Volumes, fault Fault) {
	t.Helper()
	spec := VolumeSpec("lost-"+string(fault), h.Zone)
	h.Faults.Arm(fault, 1, h.MakesVolume)
	made, err := v.CreateVolume(t.Context(), spec)
	if h.Faults.Disarm() > 0 {
		t.Fatal("no call created a volume: the harness doesn't recognize it")
	}
	if err != nil {
		unclear(t, err)
	}
	again := h.persist(t, v, spec)
	if err == nil && again.ID != made.ID {
		t.Errorf("a repeated create made %s next to %s", again.ID, made.ID)
	}
	wait(t, family.ListsLate(p))
	h.onlyVolume(t, v, spec, again.ID)
}

// persist asks for a volume until it knows which it is.
func (h disks[S]) persist(t S, v family.Volumes, spec family.VolumeSpec) family.Volume {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		made, err := v.CreateVolume(t.Context(), spec)
		if err == nil {
			return made
		}
		if app.CodeOf(err) != app.ETransient || time.Now().After(deadline) {
			t.Fatalf("create volume %s again: %v", spec.Intent, err)
		}
	}
}

// onlyVolume wants just one volume of an intent, and removes it.
func (h disks[S]) onlyVolume(t S, v family.Volumes, spec family.VolumeSpec, id string) {
	t.Helper()
	h.wantVolume(t, v, spec.Tags, id, "")
	if err := v.DeleteVolume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(h.patience()); len(h.listVolumes(t, v, spec.Tags)) > 0; time.Sleep(h.pause()) {
		if time.Now().After(deadline) {
			t.Fatalf("volume %s is listed after its deletion", id)
		}
	}
}

// late holds a member whose cloud lists late to one volume per intent: also for another process, which looks twice, so long apart.
func (h disks[S]) late(t S) {
	h.member(t, h.Open(t))
	if h.Late == nil {
		t.Skip("lists are immediately consistent")
	}
	for _, fault := range []Fault{"", Lost} {
		t.Run(fmt.Sprintf("requested again after an answer %s", fault), func(t S) {
			account, p := lists[S](h).lateAccount(t)
			v := h.member(t, p)
			if fault != "" {
				h.lostOnce(t, p, v, fault)
				return
			}
			spec := VolumeSpec("late", h.Zone)
			made := h.persist(t, v, spec)
			if again := h.persist(t, v, spec); again.ID != made.ID {
				t.Errorf("a repeated create made %s next to %s", again.ID, made.ID)
			}
			other := account.Open()
			wait(t, family.ListsLate(other))
			if again := h.persist(t, h.member(t, other), spec); again.ID != made.ID {
				t.Errorf("another process made %s next to %s", again.ID, made.ID)
			}
			h.onlyVolume(t, v, spec, made.ID)
		})
	}
}

// failures holds the verbs of volumes to the codes of failures of the cloud's side.
func (h disks[S]) failures(t S) {
	p := h.Open(t)
	v := h.member(t, p)
	spec, _ := h.Spec(t, "has-volume")
	m := h.eventually(t, p, create(t, p, spec).ID)
	wanted := VolumeSpec("disk1", m.Zone)
	made, err := v.CreateVolume(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	at := family.VolumeAttachment{Volume: made.ID, Machine: m.ID, Mount: h.mount()}
	endpoint[S](h).failEach(t, map[string]func(context.Context) error{
		"create volume": func(ctx context.Context) error {
			_, err := v.CreateVolume(ctx, VolumeSpec("disk2", m.Zone))
			return err
		},
		"list volumes":  func(ctx context.Context) error { _, err := v.ListVolumes(ctx, nil); return err },
		"attach volume": func(ctx context.Context) error { _, err := v.AttachVolume(ctx, at); return err },
		"detach volume": func(ctx context.Context) error { return v.DetachVolume(ctx, made.ID) },
		"delete volume": func(ctx context.Context) error { return v.DeleteVolume(ctx, made.ID) },
	})
	if list := h.listVolumes(t, v, map[string]string{family.TagInstallation: Installation}); len(list) != 1 || list[0].ID != made.ID || list[0].Machine != "" {
		t.Errorf("after calls that failed the volumes are %+v", list)
	}
	h.onlyVolume(t, v, wanted, made.ID)
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
}
