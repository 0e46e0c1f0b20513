package jobs_test

import (
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/jobs/reconcile"
)

// TestTwoServersNoteAnInterruptionOnce: what a provider announces of a machine is noted once, with one event and one notification, by several servers and after many lists; it
// is kept where a list says nothing for now, and forgotten long after its time.
func TestTwoServersNoteAnInterruptionOnce(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 2)
	lists := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.asked)
	}
	announce := func(at time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.machines = slices.Clone(c.machines)
		c.machines[0].LeavesAt = at
	}
	node := func() app.Node {
		nodes, err := c.store.Nodes(t.Context(), app.DefaultTenant, "web-1")
		if err != nil || len(nodes) != 1 {
			t.Fatal(nodes, err)
		}
		return nodes[0]
	}
	said := func() (notices, events []string) {
		all, err := c.store.Notices(t.Context(), app.DefaultTenant, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			if n.Kind == app.NoticeLost {
				notices = append(notices, n.Title+" "+n.Text)
			}
		}
		feed, err := c.store.Events(t.Context(), app.DefaultTenant, "web-1", 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range feed {
			if e.Kind == app.EventNode && e.Message != "" {
				events = append(events, e.Message)
			}
		}
		return notices, events
	}
	for _, name := range []string{"one", "two"} {
		r := &reconcile.Reconciler{Name: name, Installation: c.r.Installation, Accounts: together{c.store},
			Orphans: c.store, Clusters: c.store, Proofs: c.store, Interruptions: c.store,
			Providers: c.r.Providers, Catalog: c.r.Catalog, Log: c.r.Log, Every: time.Hour, Watch: 5 * time.Millisecond}
		defer c.run(t, r)()
	}
	look := func() {
		t.Helper()
		seen := lists()
		c.comesAbout(t, "both look", func() bool { return lists() > seen+10 })
	}
	look()
	if n := node(); n.Interrupted() {
		t.Fatalf("nothing is announced: %+v", n)
	}
	at := time.Now().Add(2 * time.Minute).UTC().Truncate(time.Second)
	announce(at)
	c.comesAbout(t, "it is noted", func() bool { return node().LeavesAt.Equal(at) })
	look()
	words := "n1's machine will be interrupted at " + at.Format("15:04 UTC") + "."
	if notices, events := said(); len(events) != 1 || events[0] != words || len(notices) != 1 ||
		notices[0] != "web: "+words+" Replace it before then: muster cluster repair web n1" {
		t.Errorf("notices %q, events %q", notices, events)
	}
	announce(time.Time{})
	look()
	if n := node(); !n.LeavesAt.Equal(at) {
		t.Errorf("a list said nothing, and it leaves at %s", n.LeavesAt)
	}
	if n := c.status(t, app.ClusterActive); n != 2 {
		t.Errorf("%d clusters are active", n)
	}
}

// taken has the list say that the first machine was taken away, and Describe what it is now.
func (c *crowd) taken(now func(*family.Machine)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machines = slices.Clone(c.machines)
	m := &c.machines[0]
	m.State, m.Taken = family.MachineStopped, true
	one := *m
	now(&one)
	c.described = map[string]family.Machine{m.ID: one}
}

// TestAMachineThatWasTakenAwayNeedsNoSecondList: it counts as interrupted and lost once a look at itself shows the same.
func TestAMachineThatWasTakenAwayNeedsNoSecondList(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1)
	c.r.Watch = time.Hour // no second list
	c.taken(func(*family.Machine) {})
	defer c.run(t, c.r)()
	c.comesAbout(t, "it's lost, and was interrupted", func() bool {
		nodes, err := c.store.Nodes(t.Context(), app.DefaultTenant, "web-1")
		if err != nil {
			t.Fatal(err)
		}
		return nodes[0].Lost() && !nodes[0].LeavesAt.IsZero()
	})
}

// TestAMachineThatAPersonRestartedWasNotTakenAway: a list may still say so when the machine runs again.
func TestAMachineThatAPersonRestartedWasNotTakenAway(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1)
	c.taken(func(m *family.Machine) { m.State, m.Taken = family.MachineRunning, false })
	defer c.run(t, c.r)()
	c.comesAbout(t, "it's looked at", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.asked) > 10
	})
	nodes, err := c.store.Nodes(t.Context(), app.DefaultTenant, "web-1")
	if err != nil || nodes[0].Lost() || !nodes[0].LeavesAt.IsZero() {
		t.Errorf("%+v, %v", nodes, err)
	}
}

// TestInterruptionsThatCameToNothing are forgotten long after their time.
func TestInterruptionsThatCameToNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1)
	leaves := func() bool {
		nodes, err := c.store.Nodes(t.Context(), app.DefaultTenant, "web-1")
		if err != nil {
			t.Fatal(err)
		}
		return nodes[0].Interrupted()
	}
	c.machines[0].LeavesAt = time.Now().Add(-11 * time.Minute)
	defer c.run(t, c.r)()
	c.comesAbout(t, "it is noted", leaves)
	c.mu.Lock()
	c.machines = slices.Clone(c.machines)
	c.machines[0].LeavesAt = time.Time{}
	c.mu.Unlock()
	c.comesAbout(t, "it is forgotten", func() bool { return !leaves() })
}
