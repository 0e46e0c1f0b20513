package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app/observe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shown(t *testing.T, m *Metrics) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Expose(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func expect(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(text, l+"\n") {
			t.Errorf("%q is not shown", l)
		}
	}
}

func TestWhatIsCountedIsShown(t *testing.T) {
	m := New(Config{Version: "1.2", Go: "go1"})
	m.Add(observe.MetricSteps, 2, "create", "ok")
	m.ObserveDuration(observe.MetricStepTime, 3*time.Second, "create", "ok")
	m.Add(observe.MetricStreams, 2)
	m.Add(observe.MetricStreams, -1)
	expect(t, shown(t, m), `muster_steps_total{action="create",code="ok"} 2`, `muster_step_seconds_bucket{action="create",result="ok",le="5"} 1`,
		`muster_event_streams 1`, `muster_build_info{go_version="go1",version="1.2"} 1`, `muster_queue_messages_sent_total 0`)
}

// Names are those that Prometheus's own conventions ask for, and none is there twice.
func TestNamesFollowConventions(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(append([]*observe.Metric(nil), observe.AllMetrics...), observe.Levels...) {
		if seen[m.Name] || !strings.HasPrefix(m.Name, "muster_") || m.Help == "" || strings.ToLower(m.Name) != m.Name {
			t.Errorf("%s: twice, without help, or not named as the others", m.Name)
		}
		seen[m.Name] = true
		if m.Kind == observe.MetricCounter != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s: counters end in _total, and nothing else does", m.Name)
		}
		if m.Kind == observe.MetricDuration && !strings.HasSuffix(m.Name, "_seconds") {
			t.Errorf("%s: durations end in _seconds", m.Name)
		}
	}
}

// Labels that keep coming are counted together at last.
func TestLabelsAreBounded(t *testing.T) {
	m := New(Config{})
	for i := range maxSeries + 500 {
		m.Add(observe.MetricDials, 1, fmt.Sprint("made up ", i))
	}
	m.Add(observe.MetricDials, 1, "made up 7")
	text := shown(t, m)
	if n := strings.Count(text, "\nmuster_ssh_connections_total{"); n != maxSeries+1 {
		t.Errorf("%d series, want %d and one for the others", n, maxSeries)
	}
	expect(t, text, `muster_ssh_connections_total{code="other"} 500`, `muster_ssh_connections_total{code="made up 7"} 2`)
}

// A question that fails, hangs or panics keeps no one from the rest, and all are asked once in ten seconds at most.
func TestABrokenManualStepLeavesTheRest(t *testing.T) {
	asked := 0
	hang := make(chan struct{})
	defer close(hang)
	level := func(m *observe.Metric, read func(context.Context) ([]observe.Reading, error)) observe.Gauging {
		return observe.Gauging{Name: m.Name, Metrics: []*observe.Metric{m}, Read: read}
	}
	m := New(Config{QueryMetrics: []observe.Gauging{
		level(observe.LevelOldest, func(context.Context) ([]observe.Reading, error) {
			asked++
			return []observe.Reading{{Metric: observe.LevelOldest, Value: 12}}, nil
		}),
		level(observe.LevelOutbox, func(context.Context) ([]observe.Reading, error) { return nil, errors.New("the database is away") }),
		level(observe.LevelSlots, func(context.Context) ([]observe.Reading, error) { <-hang; return nil, nil }),
		level(observe.LevelCost, func(context.Context) ([]observe.Reading, error) { panic("a bug") }),
		level(observe.LevelOrphans, func(context.Context) ([]observe.Reading, error) { // labels that are not the metric's
			return []observe.Reading{{Metric: observe.LevelOrphans, Value: 1}}, nil
		}),
	}})
	for range 3 {
		expect(t, shown(t, m), `muster_queue_oldest_seconds 12`, `muster_scrape_errors{metric="muster_queue_oldest_seconds"} 0`,
			`muster_scrape_errors{metric="muster_outbox_messages"} 1`, `muster_scrape_errors{metric="muster_slots"} 1`,
			`muster_scrape_errors{metric="muster_cost_per_hour"} 1`, `muster_scrape_errors{metric="muster_orphans"} 1`)
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

func BenchmarkRequestCounted(b *testing.B) {
	m := New(Config{})
	b.ReportAllocs()
	for b.Loop() {
		m.Add(observe.MetricRequestsOpen, 1)
		m.Add(observe.MetricRequestsOpen, -1)
		m.Add(observe.MetricRequests, 1, "/clusters/{id}", "GET", "200")
		m.ObserveDuration(observe.MetricRequestTime, time.Millisecond, "/clusters/{id}", "GET")
	}
}
