package conformance

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

// looks is how often a machine is described to see whether it keeps its address.
const looks = 40

// addresses are the promises about what a machine is reached by.
type addresses[S T[S]] struct{ Harness[S] }

// keepsAddress holds a member to what logging in rests on: a machine that runs has an address for access, and one that was reported, by the create or by
// a look at it, is the one that
// every later answer tells, as soon as it tells any. A cloud may tell of addresses late; until then its machine is starting.
func (h addresses[S]) keepsAddress(t S) {
	p := h.Open(t)
	spec, _ := h.Spec(t, "address")
	m := create(t, p, spec)
	reported := m.Addresses[app.AddressAccess]
	see := func(from string, m family.Machine) {
		at := m.Addresses[app.AddressAccess]
		switch {
		case m.State == family.MachineRunning && at == "":
			t.Errorf("%s reports a running machine without an address: %v", from, m.Addresses)
		case at != "" && reported != "" && at != reported:
			t.Fatalf("%s reports the machine at %s after it moved to %s", from, at, reported)
		case at != "":
			reported = at
		}
	}
	see("create", m)
	for range looks {
		got, err := p.Describe(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		see("describe", got)
		time.Sleep(h.pause())
	}
	see("describe", h.eventually(t, p, m.ID))
	for _, one := range list(t, p, spec.Tags) {
		see("list", one)
	}
	see("repeated create", create(t, p, spec))
}

// vanished holds a member to deleting what is gone: success, however it went, and nothing of it is left.
func (h addresses[S]) vanished(t S) {
	if h.Vanish == nil {
		t.Skip("the harness can't remove machines")
	}
	p := h.Open(t)
	spec, _ := h.Spec(t, "vanished")
	spec.Firewall = h.Firewall
	m := create(t, p, spec)
	h.eventually(t, p, m.ID)
	h.Vanish(t, m.ID)
	_, err := p.Describe(t.Context(), m.ID)
	wantCode(t, "describe a vanished machine", err, app.ENotFound)
	for range 2 {
		if err := p.Delete(t.Context(), m.ID); err != nil {
			t.Errorf("delete a vanished machine: %v", err)
		}
	}
	if ids := idsOf(list(t, p, spec.Tags)); slices.Contains(ids, m.ID) {
		t.Errorf("a vanished machine is listed: %v", ids)
	}
	h.nothingLeft(t, p)
}
