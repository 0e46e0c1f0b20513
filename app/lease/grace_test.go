package lease_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/execution"
	"muster/planner"
)

// Pausing the deletion of a cluster whose lease has ended keeps its machines for a day, and not forever.
func TestPausedDeletionOfAnExpiredClusterGoesOn(t *testing.T) {
	o := harness.NewBare(t)
	o.Services.Cluster.Plans.Planner = planner.New()
	n := apptest.NewCluster("t1", "c", 1, o.Clock.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = o.Clock.Now().Add(time.Hour)
	_, err := o.Store.CreateCluster(t.Context(), n)
	o.Must(err)
	ada, id := app.Actor{Tenant: "t1", User: "ada", Role: app.RoleAdmin}, n.Cluster.ID
	expire := func(want int, when string) {
		t.Helper()
		if begun, err := o.Services.Upkeep.Expire(t.Context()); err != nil || begun != want {
			t.Fatalf("%s, %d are begun with, want %d: %v", when, begun, want, err)
		}
	}
	status := func(want app.OperationStatus) {
		t.Helper()
		v, err := o.Services.Cluster.Views.Cluster(t.Context(), ada, id)
		o.Must(err)
		if got := v.Operations[0]; got.Kind != app.OperationDelete || got.Status != want {
			t.Fatalf("the %s is %s, want a deletion that is %s", got.Kind, got.Status, want)
		}
	}
	says := func(words ...string) {
		t.Helper()
		w, err := o.Services.Execution.Waits.Waiting(t.Context(), ada, id, execution.WaitingFilter{})
		o.Must(err)
		for _, word := range words {
			if w.Text == "" || !strings.Contains(w.Text, word) {
				t.Errorf("it says %q, want %q", w.Text, word)
			}
		}
	}
	pause := func() {
		t.Helper()
		_, err := o.Services.Operation.Controls.PauseOperation(t.Context(), ada, id, 0)
		o.Must(err)
	}
	o.Clock.Move(2 * time.Hour)
	expire(1, "when the lease has ended")
	status(app.OperationRunning)
	o.Clock.Move(48 * time.Hour)
	pause()
	says("The lease expired 2 d 1 h ago", "paused by ada", "resumes automatically in 24 h")
	o.Clock.Move(23 * time.Hour)
	expire(0, "within the grace")
	status(app.OperationPaused)
	says("automatically in 1 h")
	o.Clock.Move(2 * time.Hour)
	expire(1, "when the grace is over")
	status(app.OperationRunning)
	pause() // again, which counts from now
	o.Clock.Move(23 * time.Hour)
	expire(0, "within the grace of a second pause")
	o.Services.Lease.PausedDeletes.LeaseGrace = time.Hour
	expire(1, "with a shorter grace")
	status(app.OperationRunning)
}

// A deletion that a person asked for before the lease has ended stays paused for as long as the person likes.
func TestPausedDeletionOfAClusterWithALeaseStays(t *testing.T) {
	o := harness.NewBare(t)
	o.Services.Cluster.Plans.Planner = planner.New()
	n := apptest.NewCluster("t1", "c", 1, o.Clock.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = o.Clock.Now().Add(1000 * time.Hour)
	_, err := o.Store.CreateCluster(t.Context(), n)
	o.Must(err)
	ada := app.Actor{Tenant: "t1", User: "ada", Role: app.RoleAdmin}
	_, err = o.Services.Cluster.Deletes.DeleteCluster(t.Context(), ada, n.Cluster.ID)
	o.Must(err)
	_, err = o.Services.Operation.Controls.PauseOperation(t.Context(), ada, n.Cluster.ID, 0)
	o.Must(err)
	o.Clock.Move(900 * time.Hour)
	if begun, err := o.Services.Upkeep.Expire(t.Context()); err != nil || begun != 0 {
		t.Errorf("%d are begun with: %v", begun, err)
	}
	w, err := o.Services.Execution.Waits.Waiting(t.Context(), ada, n.Cluster.ID, execution.WaitingFilter{})
	o.Must(err)
	if !strings.Contains(w.Text, "Paused by ada.") || strings.Contains(w.Text, "by itself") {
		t.Errorf("it says %q", w.Text)
	}
}
