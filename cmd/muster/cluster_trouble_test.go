package main

import (
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
			Ways: []app.Way{{Kind: app.WayRepair, Title: "Repair cluster", Text: "Replaces n2 and finishes what the reconfiguration left undone.", Command: "muster cluster repair shop"},
				{Kind: app.WayDelete, Title: "Delete cluster", Text: "Gives everything back. All data on it is lost.", Command: "muster cluster delete shop"}}},
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
Since 2h1m ago; its machines cost 0.50 per hour meanwhile.

What you can do:
  muster cluster repair shop  Replaces n2 and finishes what the reconfiguration left undone.
  muster cluster delete shop  Gives everything back. All data on it is lost.

`, "")
}
