package store_test

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store/storetest"
)

func TestNodeReportsAreKeptWhileTheFenceHolds(t *testing.T) {
	s := open(t, storetest.File(t))
	ctx, now := t.Context(), time.Now()
	if _, err := s.CreateCluster(ctx, apptest.NewCluster("t1", "web", 2, now, apptest.Chain(2))); err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Tenant: "t1", Name: "w"}
	claimed, err := s.ClaimSteps(ctx, app.ClaimQuery{Worker: w, Now: now, For: app.ClaimFor})
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	c := claimed[0]
	fence := app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}
	stale := fence
	stale.Attempt++
	report := func(found string) app.NodeReport {
		return app.NodeReport{At: now, Checks: []app.NodeCheck{{Name: "time", Level: app.NodeAdvised, Found: found, Want: "under 5 s"}}}
	}
	keep := func(w app.WorkerID, f app.Fence, found string) {
		t.Helper()
		if err := s.KeepNodeReports(ctx, w, []app.FencedNodeReport{{Fence: f, Report: report(found)}}); err != nil {
			t.Fatal(err)
		}
	}
	keep(w, fence, "an hour off")
	keep(w, fence, "9 s off") // the later one counts
	keep(w, stale, "stale")
	keep(app.WorkerID{Tenant: "t2", Name: "w"}, fence, "another tenant's")
	keep(app.WorkerID{Tenant: "t1", Name: "other"}, fence, "another worker's")
	for _, node := range []string{"", c.Node.Name} {
		got, err := s.NodeReports(ctx, "t1", c.Cluster.ID, node, 10)
		if err != nil || len(got) != 1 || got[0].Node != c.Node.Name || got[0].Checks[0].Found != "9 s off" {
			t.Errorf("of node %q: %+v, %v", node, got, err)
		}
	}
	if got, err := s.NodeReports(ctx, "t2", c.Cluster.ID, "", 10); err != nil || len(got) != 0 {
		t.Errorf("another tenant reads %+v, %v", got, err)
	}
}
