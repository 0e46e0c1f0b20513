package cluster

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/health"
)

// What a round found counts for as long as the next one may take, and never where nothing looks any more, or the provider knows better.
func TestStaleHealthIsUnknown(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	nodes := []app.Node{{Name: "n1", Status: app.NodeReady}, {Name: "n2", Status: app.NodeReady}}
	unhealthy := health.NodeHealth{Node: "n1", State: health.Unhealthy, Reasons: []string{"web: no answer"}}
	for name, c := range map[string]struct {
		status  app.ClusterStatus
		message string
		age     time.Duration // 0: never looked at
		nodes   []health.NodeHealth
		want    health.State
		counts  [4]int // healthy, unhealthy, unreachable, unknown
		note    string
	}{
		"just looked at":                     {status: app.ClusterActive, age: 30 * time.Second, want: health.Healthy, counts: [4]int{2}},
		"a round is late":                    {status: app.ClusterActive, age: 2 * time.Minute, want: health.Healthy, counts: [4]int{2}},
		"rounds have stopped":                {status: app.ClusterActive, age: 11 * time.Minute, want: health.Unknown, counts: [4]int{0, 0, 0, 2}, note: "Last health check 11"},
		"unhealthy, and rounds have stopped": {status: app.ClusterActive, age: 11 * time.Minute, nodes: []health.NodeHealth{unhealthy}, want: health.Unknown, counts: [4]int{0, 0, 0, 2}, note: "Last health check"},
		"unhealthy":                          {status: app.ClusterActive, age: 30 * time.Second, nodes: []health.NodeHealth{unhealthy}, want: health.Unhealthy, counts: [4]int{1, 1}},
		"asleep":                             {status: app.ClusterAsleep, age: 10 * time.Second, want: health.Unknown, counts: [4]int{0, 0, 0, 2}, note: "asleep"},
		"an operation has begun":             {status: app.ClusterPending, age: 30 * time.Second, want: health.Healthy, counts: [4]int{2}},
		"a long operation":                   {status: app.ClusterPending, age: 2 * time.Minute, want: health.Unknown, counts: [4]int{0, 0, 0, 2}, note: "operation is running"},
		"an operation has failed":            {status: app.ClusterFailed, age: 2 * time.Minute, want: health.Unknown, counts: [4]int{0, 0, 0, 2}, note: "failed operation"},
		"a machine is lost":                  {status: app.ClusterFailed, message: health.LostMachines + "n2. It is gone.", age: 10 * time.Second, want: health.Unhealthy, counts: [4]int{1, 0, 1}},
		"lost, and rounds have stopped":      {status: app.ClusterFailed, message: health.LostMachines + "n2. It is gone.", age: 11 * time.Minute, want: health.Unhealthy, counts: [4]int{0, 0, 1, 1}, note: "Last"},
		"never looked at":                    {status: app.ClusterActive, want: health.Unknown, counts: [4]int{0, 0, 0, 2}},
		"lost before the first round is":     {status: app.ClusterFailed, message: health.LostMachines + "n1. It is gone.", want: health.Unhealthy, counts: [4]int{0, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h := health.ClusterHealth{Every: time.Minute, Nodes: c.nodes}
			if c.age > 0 {
				h.CheckedAt = now.Add(-c.age)
			}
			h.Sum(2, c.age > 0)
			h.Settle(app.Cluster{Status: c.status, Message: c.message}, nodes, now)
			if counts := [4]int{h.Healthy, h.Unhealthy, h.Unreachable, h.Unknown}; h.State != c.want || counts != c.counts {
				t.Errorf("%s %v, want %s %v", h.State, counts, c.want, c.counts)
			}
			if (c.note == "") != (h.Note == "") || !strings.Contains(h.Note, c.note) {
				t.Errorf("it says %q, want %q", h.Note, c.note)
			}
		})
	}
}

// A check can be asked for exactly where rounds look at a cluster.
func TestWhereHealthCanBeChecked(t *testing.T) {
	for _, c := range []struct {
		status  app.ClusterStatus
		message string
		health  *health.ClusterHealth
		want    bool
	}{
		{status: app.ClusterActive, health: &health.ClusterHealth{}, want: true},
		{status: app.ClusterActive},
		{status: app.ClusterPending, health: &health.ClusterHealth{}},
		{status: app.ClusterAsleep, health: &health.ClusterHealth{}},
		{status: app.ClusterDeleted, health: &health.ClusterHealth{}},
		{status: app.ClusterFailed, health: &health.ClusterHealth{}},
		{status: app.ClusterFailed, message: health.LostMachines + "n1. It is gone.", health: &health.ClusterHealth{}, want: true},
	} {
		v := View{Cluster: app.Cluster{Status: c.status, Message: c.message}, Nodes: []app.Node{{Name: "n1", Status: app.NodeReady}}, Health: c.health}
		if got := v.CanCheckHealth(); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}
