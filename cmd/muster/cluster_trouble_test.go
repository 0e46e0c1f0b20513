package main

import (
	"strings"
	"testing"
	"time"

	"muster/app"
)

func troubled() app.ClusterView {
	since := time.Now().Add(-2*time.Hour - time.Minute)
	return app.ClusterView{
		Cluster: app.Cluster{ID: "c1", Name: "shop", Owner: "ada", Template: "web", Provider: "cloud", Size: 2, Status: app.ClusterFailed, Message: "n2.web.start failed: no route to host", CostPerHour: 1},
		Nodes: []app.Node{{Name: "n1", Hostname: "c1-n1", Hardware: "small", Image: "linux", Services: []string{"web"}, Status: app.NodeReady},
			{Name: "n2", Hostname: "c1-n2", Hardware: "small", Image: "linux", Services: []string{"web"}, Status: app.NodeReady, LostAt: since}},
		Operations: []app.Operation{{ID: 2, Kind: app.OperationReconfigure, Status: app.OperationFailed, Total: 6, Done: 4, CreatedAt: since, StartedAt: since, EndedAt: since}},
		Trouble: &app.Trouble{What: "The reconfiguration failed after 4 of 6 steps. The machine of n2 is gone.", Since: since, Operation: 2, Lost: []string{"n2"}, CostPerHour: 0.5,
			Failures: []app.TroubleStep{{Step: "n2.web.start", Node: "n2", Error: "no route to host"}},
			Ways: []app.Way{{Kind: app.WayRepair, Title: "Repair cluster", Text: "Replaces n2 and finishes the reconfiguration.", Command: "muster cluster repair shop"},
				{Kind: app.WayDelete, Title: "Delete cluster", Text: "Deletes all machines and the data on them.", Command: "muster cluster delete shop"}}},
	}
}

// TestClusterShow: of a cluster that has failed it's said once what is wrong, since when, what it costs meanwhile, and what can be done.
func TestClusterShow(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	v := troubled()
	s.views["c1"] = &v
	got := s.muster("cluster", "show", "shop")
	wantResult(t, got, exitDone, `shop (c1) is failed: The reconfiguration failed after 4 of 6 steps. The machine of n2 is gone.
web · 2 nodes · cloud · owned by ada · 1.00 per hour · no end of lease
  n2.web.start: no route to host
Stopped 2h1m ago; its machines cost 0.50 per hour in the meantime.

What you can do:
  muster cluster repair shop  Replaces n2 and finishes the reconfiguration.
  muster cluster delete shop  Deletes all machines and the data on them.

`, "")
}

// TestClusterHealthCheck: with --check what is printed is what the check has found, not what was known before.
func TestClusterHealthCheck(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	v := troubled()
	s.views["c1"] = &v
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := app.ClusterHealth{State: app.HealthUnknown, Unknown: 2, LookedAt: at, Nodes: []app.NodeHealth{}}
	s.health = []app.ClusterHealth{before, before, {State: app.HealthHealthy, Healthy: 2, LookedAt: at.Add(time.Minute), Nodes: []app.NodeHealth{}}}
	wantResult(t, s.muster("cluster", "health", "shop", "--check"), exitDone,
		"shop is healthy. 2 healthy, 0 sick, 0 unreachable, 0 unknown; looked at 2026-03-01 12:01:00 UTC.\n", "")
	if s.wasAsked("POST /clusters/c1/health/check") != 1 || s.wasAsked("GET /clusters/c1/health") != 3 {
		t.Errorf("the server was asked %q", s.asked)
	}
	s.refuse["POST /clusters/c1/health/check"], s.status = &app.Error{Code: app.EConflict, Message: "Health isn't checked while the cluster is asleep."}, 409
	if got := s.muster("cluster", "health", "shop", "--check"); got.code == exitDone || !strings.Contains(got.errOut, "asleep") {
		t.Errorf("a refused check ends with %+v", got)
	}
}
