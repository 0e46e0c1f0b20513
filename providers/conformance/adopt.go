package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/family"
)

// adoption is the promises about machines that are handed out of a pool.
type adoption[S T[S]] struct{ Harness[S] }

// adopted holds a member to what handing a machine out of a pool rests on: the machine carries its new node's tags from then on, stays the intent's own, and is
// behind its new cluster's firewall, whatever answer on the way to that was lost.
func (h adoption[S]) adopted(t S) {
	if a, ok := family.PowerOf[family.Adopter](h.Open(t)); !ok || a == nil {
		if h.Firewall != nil {
			t.Fatal("a member with firewalls must be an family.Adopter: machines from a pool would be open to everyone")
		}
		t.Skip("machines of this member keep their tags")
	}
	if h.Firewall != nil && h.Faults != nil && h.Behind == nil {
		t.Fatal("the harness must set Behind")
	}
	t.Run("normally", h.adoptedOnce)
	if h.Faults == nil {
		return
	}
	t.Run("with lost responses", func(t S) {
		const most = 100
		n := 1
		for h.adoptedAfter(t, n) {
			if n++; n > most {
				t.Fatalf("%d calls aren't enough", most)
			}
		}
	})
}

// pooled makes a machine as pools do, and returns what it is to become.
func (h adoption[S]) pooled(t S, p family.Provider) (family.Machine, family.MachineSpec) {
	t.Helper()
	spec, _ := h.Spec(t, "pooled")
	spec.Tags["muster-pool"] = "warm"
	made := h.eventually(t, p, create(t, p, spec).ID)
	next := spec
	next.Hostname, next.Firewall = "n7.c7.suite.test", h.Firewall
	next.Tags = maps.Clone(spec.Tags)
	delete(next.Tags, "muster-pool")
	next.Tags[family.TagCluster], next.Tags[family.TagNode] = "c7", "n7"
	return made, next
}

func (h adoption[S]) adoptedOnce(t S) {
	p := h.Open(t)
	a, _ := family.PowerOf[family.Adopter](p)
	made, next := h.pooled(t, p)
	for _, id := range []string{"no-such-machine", ""} {
		wantCode(t, fmt.Sprintf("adopt %q", id), a.Adopt(t.Context(), id, next), app.ENotFound)
	}
	if err := a.Adopt(done(t), made.ID, next); err == nil {
		t.Error("adopt succeeds with a cancelled context")
	}
	for range 2 { // a second time nothing changes
		if err := a.Adopt(t.Context(), made.ID, next); err != nil {
			t.Fatalf("adopt: %v", err)
		}
		h.isOf(t, p, made, next)
	}
	if others := list(t, p, map[string]string{family.TagInstallation: Installation, family.TagCluster: "c1"}); len(others) > 0 {
		t.Errorf("its former cluster still has %v", idsOf(others))
	}
	if again := create(t, p, next); again.ID != made.ID {
		t.Errorf("its intent creates %s next to it", again.ID)
	}
	if h.Firewall != nil {
		h.released(t, p, made.ID, next)
	}
	h.leave(t, p, made.ID)
}

// released wants a machine that goes from a cluster with a firewall to one without to leave the firewall, as one that was kept for inspection.
func (h adoption[S]) released(t S, p family.Provider, id string, spec family.MachineSpec) {
	t.Helper()
	a, _ := family.PowerOf[family.Adopter](p)
	sharer, _ := family.PowerOf[family.Sharer](p)
	was := map[string]string{family.TagInstallation: Installation, family.TagCluster: "c7"}
	things, err := sharer.Shared(t.Context(), was)
	if err != nil || len(things) == 0 {
		t.Fatalf("created for the cluster: %+v, %v", things, err)
	}
	spec.Firewall, spec.Hostname, spec.Tags = nil, "n1.c8.suite.test", maps.Clone(spec.Tags)
	spec.Tags[family.TagCluster], spec.Tags[family.TagNode] = "c8", "n1"
	for range 2 {
		if err := a.Adopt(t.Context(), id, spec); err != nil {
			t.Fatalf("adopt without a firewall: %v", err)
		}
	}
	if h.Behind != nil {
		behind := h.Behind(t, id)
		for _, thing := range things {
			if slices.Contains(behind, thing.Name) {
				t.Errorf("%s %s is still in front of the machine", thing.Kind, thing.Name)
			}
		}
	}
	for _, thing := range things {
		if err := sharer.DeleteShared(t.Context(), thing.ID); err != nil {
			t.Errorf("delete %s, which no machine is behind any more: %v", thing.ID, err)
		}
	}
}

// adoptedAfter has the answer to the n-th call of an adoption that changes something be lost, and the adoption be asked for again; false where there is no
// such call.
func (h adoption[S]) adoptedAfter(t S, n int) bool {
	t.Helper()
	p := h.Open(t)
	a, _ := family.PowerOf[family.Adopter](p)
	made, next := h.pooled(t, p)
	var calls atomic.Int64
	reads := h.Reads
	if reads == nil {
		reads = func(r *http.Request) bool { return r.Method == http.MethodGet }
	}
	h.Faults.Arm(Lost, 1, func(r *http.Request) bool { return !reads(r) && calls.Add(1) == int64(n) })
	err := a.Adopt(t.Context(), made.ID, next)
	came := h.Faults.Disarm() == 0
	if err != nil {
		unclear(t, err)
	}
	for deadline := time.Now().Add(h.patience()); time.Now().Before(deadline); time.Sleep(h.pause()) {
		if err = a.Adopt(t.Context(), made.ID, next); app.CodeOf(err) != app.ETransient { // what was begun may still be running
			break
		}
	}
	if err != nil {
		t.Fatalf("adopt, after the response to change %d was lost: %v", n, err)
	}
	h.isOf(t, p, made, next)
	h.leave(t, p, made.ID)
	return came
}

// isOf wants a machine to be what it was adopted as.
func (h adoption[S]) isOf(t S, p family.Provider, made family.Machine, next family.MachineSpec) {
	t.Helper()
	got := h.eventually(t, p, made.ID)
	if !maps.Equal(got.Tags, next.Tags) || got.Hostname != next.Hostname {
		t.Errorf("%s carries %v, want %s with %v", got.Hostname, got.Tags, next.Hostname, next.Tags)
	}
	if got.HostKey != made.HostKey || got.SSHUser != made.SSHUser || !got.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("it is %+v, and was %+v", got, made)
	}
	if ids := idsOf(list(t, p, next.Tags)); !slices.Equal(ids, []string{made.ID}) {
		t.Errorf("listing its new tags returns %v, want only %s", ids, made.ID)
	}
	if h.Firewall == nil {
		return
	}
	s, ok := family.PowerOf[family.Sharer](p)
	if !ok {
		t.Fatal("a member with firewalls must be a family.Sharer")
	}
	things, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: Installation, family.TagCluster: "c7"})
	if err != nil || len(things) == 0 {
		t.Fatalf("created for the cluster: %+v, %v", things, err)
	}
	names := map[string]bool{}
	for _, thing := range things {
		if names[thing.Name] {
			t.Errorf("%s %s was created twice", thing.Kind, thing.Name)
		}
		names[thing.Name] = true
		wantCode(t, "delete "+thing.ID+" while a machine is behind it", s.DeleteShared(t.Context(), thing.ID), app.ETransient)
	}
	if h.Behind == nil {
		return
	}
	behind := h.Behind(t, made.ID)
	for _, thing := range things {
		if !slices.Contains(behind, thing.Name) {
			t.Errorf("%s %s exists, but only %v is in front of the machine", thing.Kind, thing.Name, behind)
		}
	}
}

// leave removes a machine and what its cluster shared, and looks whether the account is empty.
func (h Harness[S]) leave(t S, p family.Provider, id string) {
	t.Helper()
	if err := p.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	wait(t, family.ListsLate(p))
	h.nothingLeft(t, p)
}
