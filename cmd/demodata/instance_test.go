package demodata

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
)

var today = time.Date(2026, 10, 20, 14, 30, 0, 0, time.UTC)

func populated(t testing.TB) *Instance {
	t.Helper()
	h, err := Open(t.Context(), filepath.Join(t.TempDir(), "muster.db"), NewClock(today), slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Populate(t.Context(), today); err != nil {
		t.Fatal(err)
	}
	return h
}

// served is settled with its portal, whose server ends with the test.
func served(t testing.TB) (*Instance, *Site) {
	t.Helper()
	h := populated(t)
	site, err := h.Serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = site.Close() })
	return h, site
}

// What pages are measured and photographed with has clusters in every state.
func TestDemoDataHasAMonthOfWork(t *testing.T) {
	h := populated(t)
	list, err := h.Services.Cluster.Views.Clusters(t.Context(), h.actor(Admin), app.ClusterFilter{Deleted: true})
	if err != nil {
		t.Fatal(err)
	}
	states := map[app.ClusterStatus]int{}
	for _, c := range list {
		states[c.Status]++
	}
	for _, s := range []app.ClusterStatus{app.ClusterPending, app.ClusterActive, app.ClusterAsleep, app.ClusterFailed, app.ClusterDeleted} {
		if states[s] == 0 {
			t.Errorf("no cluster is %s: %v", s, states)
		}
	}
	waiting, err := h.Services.Operation.Requests.Requests(t.Context(), h.actor(approver), cluster.RequestFilter{View: cluster.RequestsInbox})
	if err != nil || len(waiting) == 0 {
		t.Errorf("nothing waits for approval: %v", err)
	}
	questions, err := h.Services.Execution.ManualSteps.ManualSteps(t.Context(), h.actor("hiro"), execution.ManualStepQuery{Mine: true})
	if err != nil || len(questions) == 0 {
		t.Errorf("no request to approve: %v", err)
	}
	t.Logf("%v, %d requests wait, %d questions", states, len(waiting), len(questions))
}
