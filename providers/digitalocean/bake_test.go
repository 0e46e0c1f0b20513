package digitalocean

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

// TestUnlistedSnapshotsAreWaitedFor: while a snapshot may not be listed yet, no second one is made of the droplet.
func TestUnlistedSnapshotsAreWaitedFor(t *testing.T) {
	w := newWorld(t)
	patient := quick
	patient.fresh = time.Hour
	c := w.openLate(t, patient)
	m := providertest.Eventually(t, c, w.make(t, c, w.spec(t, "oven")).ID)
	want := family.BakeSpec{Name: "muster-k", Tags: map[string]string{family.TagInstallation: providertest.Installation,
		family.TagTenant: "acme", family.TagBake: "k"}}
	change := func(do func(*simBaked)) {
		w.mu.Lock()
		defer w.mu.Unlock()
		do(w.sim.acted[0])
	}
	w.mu.Lock()
	w.lag = 24 * time.Hour
	w.mu.Unlock()
	call := "POST /v2/droplets/" + m.ID + "/actions"
	tries := func(what string, snapshots int, code app.Code) {
		t.Helper()
		i, err := c.Bake(t.Context(), m.ID, want)
		if app.CodeOf(err) != code || (err == nil) != (i.ID != "") {
			t.Errorf("%s: %+v, %v", what, i, err)
		}
		if n := w.count(call); n != snapshots {
			t.Errorf("%s: %d snapshots", what, n)
		}
	}
	tries("the first", 1, app.ETransient)
	tries("one that was made", 1, app.ETransient)
	change(func(b *simBaked) { b.done = time.Now().Add(20 * time.Millisecond) })
	tries("one that is being made", 1, app.ETransient)
	change(func(b *simBaked) { b.done = time.Now().Add(-2 * time.Hour) })
	tries("one that would be listed by now", 2, app.ETransient)
	w.mu.Lock()
	w.lag = 0
	w.mu.Unlock()
	tries("a listed one", 2, "")
}
