package app

import (
	"strings"
	"testing"
	"time"
)

// What a round found counts for as long as the next one may take, and never where nothing looks any more, or the provider knows better.
func TestHealthIsKnownOnlyWhileItIsFresh(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	nodes := []Node{{Name: "n1", Status: NodeReady}, {Name: "n2", Status: NodeReady}}
	sick := NodeHealth{Node: "n1", State: HealthSick, Reasons: []string{"web: no answer"}}
	for name, c := range map[string]struct {
		status  ClusterStatus
		message string
		age     time.Duration // 0: never looked at
		nodes   []NodeHealth
		want    HealthState
		counts  [4]int // healthy, sick, unreachable, unknown
		note    string
	}{
		"just looked at":                 {status: ClusterActive, age: 30 * time.Second, want: HealthHealthy, counts: [4]int{2}},
		"a round is late":                {status: ClusterActive, age: 2 * time.Minute, want: HealthHealthy, counts: [4]int{2}},
		"rounds have stopped":            {status: ClusterActive, age: 11 * time.Minute, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}, note: "The last health check was 11"},
		"sick, and rounds have stopped":  {status: ClusterActive, age: 11 * time.Minute, nodes: []NodeHealth{sick}, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}, note: "The last health check"},
		"sick":                           {status: ClusterActive, age: 30 * time.Second, nodes: []NodeHealth{sick}, want: HealthSick, counts: [4]int{1, 1}},
		"asleep":                         {status: ClusterAsleep, age: 10 * time.Second, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}, note: "asleep"},
		"an operation has begun":         {status: ClusterPending, age: 30 * time.Second, want: HealthHealthy, counts: [4]int{2}},
		"a long operation":               {status: ClusterPending, age: 2 * time.Minute, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}, note: "operation is running"},
		"an operation has failed":        {status: ClusterFailed, age: 2 * time.Minute, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}, note: "failed operation"},
		"a machine is lost":              {status: ClusterFailed, message: LostMachines + "n2. It is gone.", age: 10 * time.Second, want: HealthSick, counts: [4]int{1, 0, 1}},
		"lost, and rounds have stopped":  {status: ClusterFailed, message: LostMachines + "n2. It is gone.", age: 11 * time.Minute, want: HealthSick, counts: [4]int{0, 0, 1, 1}, note: "The last"},
		"never looked at":                {status: ClusterActive, want: HealthUnknown, counts: [4]int{0, 0, 0, 2}},
		"lost before the first round is": {status: ClusterFailed, message: LostMachines + "n1. It is gone.", want: HealthSick, counts: [4]int{0, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h := ClusterHealth{Every: time.Minute, Nodes: c.nodes}
			if c.age > 0 {
				h.LookedAt = now.Add(-c.age)
			}
			h.Sum(2, c.age > 0)
			h.Settle(Cluster{Status: c.status, Message: c.message}, nodes, now)
			if counts := [4]int{h.Healthy, h.Sick, h.Unreachable, h.Unknown}; h.State != c.want || counts != c.counts {
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
		status  ClusterStatus
		message string
		health  *ClusterHealth
		want    bool
	}{
		{status: ClusterActive, health: &ClusterHealth{}, want: true},
		{status: ClusterActive},
		{status: ClusterPending, health: &ClusterHealth{}},
		{status: ClusterAsleep, health: &ClusterHealth{}},
		{status: ClusterDeleted, health: &ClusterHealth{}},
		{status: ClusterFailed, health: &ClusterHealth{}},
		{status: ClusterFailed, message: LostMachines + "n1. It is gone.", health: &ClusterHealth{}, want: true},
	} {
		v := ClusterView{Cluster: Cluster{Status: c.status, Message: c.message}, Nodes: []Node{{Name: "n1", Status: NodeReady}}, Health: c.health}
		if got := v.CanCheckHealth(); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}
