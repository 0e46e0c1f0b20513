package cluster

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
)

// Busy clusters come first, then the most expensive ones; each operation has its reason for waiting.
func TestTopShowsWhatIsAtWorkFirst(t *testing.T) {
	t.Parallel()
	now := time.Now()
	v := &topView{At: now, Work: 1, Queue: &execution.Queue{Running: 3, Queued: 2, Slots: 8, Workers: 1, Operations: []execution.QueueLine{{Operation: 7, Text: "It waits for a slot."}}},
		Clusters: []app.ClusterSummary{
			{Cluster: app.Cluster{ID: "1", Name: "web", Size: 3, Status: app.ClusterPending, CostPerHour: 0.5, Currency: "USD"},
				Operation: &app.Operation{ID: 7, Kind: app.OperationCreate, Status: app.OperationRunning, Done: 4, Total: 9, CreatedAt: now.Add(-90 * time.Second)}},
			{Cluster: app.Cluster{ID: "2", Name: "store", Size: 10, Status: app.ClusterActive, CostPerHour: 7, Currency: "USD"},
				Operation: &app.Operation{ID: 3, Status: app.OperationSucceeded}},
		}}
	if got := v.head(now); !strings.HasSuffix(got, " · busy: 1 cluster · 3 running steps · 2 queued · 8 slots of 1 worker · $7.50/h for the clusters shown") {
		t.Error(got)
	}
	lines := v.table(now).Lines(0, func(_, text string) string { return text })
	for i, want := range [][]string{{"NAME", "COST/H", "REASON"}, {"web", "creation running", "4/9", "1:30", "It waits for a slot."}, {"store", "$7.00", "active"}} {
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%q is not in %q", w, lines[i])
			}
		}
	}
	if text := strings.Join(v.table(now).Lines(30, func(_, text string) string { return text }), "\n"); !strings.Contains(text, "web") || !strings.Contains(text, "store") {
		t.Error(text)
	}
}
