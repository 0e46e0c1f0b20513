package conformance

import (
	"slices"
	"time"

	"muster/app/family"
)

// found holds a member to what looking before asking again, and the proof of a deletion, rest on: what was made is listed by
// its intent at once, or as late as the member says, and what was deleted is not listed any more by then.
func (h Harness[S]) found(t S) {
	p := h.Open(t)
	late := family.ListsLate(p)
	if late > 10*time.Second && h.Patience == 0 {
		t.Fatalf("its lists lag by %s, which is too long for the suite", late)
	}
	spec, _ := h.Spec(t, "found")
	tags := map[string]string{family.TagInstallation: Installation, family.TagIntent: spec.Intent}
	before := time.Now()
	m := create(t, p, spec)
	wait(t, late)
	if ids := idsOf(list(t, p, tags)); !slices.Equal(ids, []string{m.ID}) {
		t.Errorf("%s after creation, the list by intent returns %v, want %s", late, ids, m.ID)
	}
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if at := got.CreatedAt; !at.IsZero() && (at.Before(before.Add(-time.Minute)) || at.After(time.Now().Add(time.Minute))) {
		t.Errorf("created at %s by the cloud's clock; here it's %s", at, time.Now())
	}
	if again, _ := p.Describe(t.Context(), m.ID); !again.CreatedAt.Equal(got.CreatedAt) {
		t.Errorf("created at %s, and then at %s", got.CreatedAt, again.CreatedAt)
	}
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	wait(t, late)
	if ids := idsOf(list(t, p, tags)); len(ids) > 0 {
		t.Errorf("%s after deletion, the list by intent returns %v", late, ids)
	}
	if again := create(t, p, spec); again.ID == m.ID && again.CreatedAt.Before(got.CreatedAt) {
		t.Errorf("a machine created again is older, %s, than the one before it, %s", again.CreatedAt, got.CreatedAt)
	}
}

// zoned holds a member that says where machines are to the zone that was asked for.
func (h Harness[S]) zoned(t S) {
	if h.Zone == "" {
		t.Skip("not set in the harness")
	}
	p := h.Open(t)
	spec, _ := h.Spec(t, "zoned")
	spec.Zone = h.Zone
	m := create(t, p, spec)
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil || m.Zone != h.Zone || got.Zone != h.Zone {
		t.Errorf("created in zone %q, described in %q (%v), want %q", m.Zone, got.Zone, err, h.Zone)
	}
}

func wait(t TB, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
