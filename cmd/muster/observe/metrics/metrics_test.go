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

	"muster/app"
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
	m.Add(app.MetricSteps, 2, "create", "ok")
	m.Took(app.MetricStepTime, 3*time.Second, "create", "ok")
	m.Add(app.MetricStreams, 2)
	m.Add(app.MetricStreams, -1)
	expect(t, shown(t, m), `muster_steps_total{action="create",code="ok"} 2`, `muster_step_seconds_bucket{action="create",result="ok",le="5"} 1`,
		`muster_live_streams 1`, `muster_build_info{go_version="go1",version="1.2"} 1`, `muster_outbox_rings_total 0`)
}

// Names are those that Prometheus's own conventions ask for, and none is there twice.
func TestNamesFollowConventions(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(append([]*app.Metric(nil), app.AllMetrics...), app.Levels...) {
		if seen[m.Name] || !strings.HasPrefix(m.Name, "muster_") || m.Help == "" || strings.ToLower(m.Name) != m.Name {
			t.Errorf("%s: twice, without help, or not named as the others", m.Name)
		}
		seen[m.Name] = true
		if m.Kind == app.MetricCounter != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s: counters end in _total, and nothing else does", m.Name)
		}
		if m.Kind == app.MetricDuration && !strings.HasSuffix(m.Name, "_seconds") {
			t.Errorf("%s: durations end in _seconds", m.Name)
		}
	}
}

// Labels that keep coming are counted together at last.
func TestLabelsHaveAnEnd(t *testing.T) {
	m := New(Config{})
	for i := range mostSeries + 500 {
		m.Add(app.MetricDials, 1, fmt.Sprint("made up ", i))
	}
	m.Add(app.MetricDials, 1, "made up 7")
	text := shown(t, m)
	if n := strings.Count(text, "\nmuster_ssh_connections_total{"); n != mostSeries+1 {
		t.Errorf("%d series, want %d and one for the others", n, mostSeries)
	}
	expect(t, text, `muster_ssh_connections_total{code="other"} 500`, `muster_ssh_connections_total{code="made up 7"} 2`)
}

// A question that fails, hangs or panics keeps nobody from the rest, and all are asked once in ten seconds at most.
func TestABrokenQuestionLeavesTheRest(t *testing.T) {
	asked := 0
	hang := make(chan struct{})
	defer close(hang)
	level := func(m *app.Metric, read func(context.Context) ([]app.Reading, error)) app.Gauging {
		return app.Gauging{Name: m.Name, Metrics: []*app.Metric{m}, Read: read}
	}
	m := New(Config{Gaugings: []app.Gauging{
		level(app.LevelOldest, func(context.Context) ([]app.Reading, error) {
			asked++
			return []app.Reading{{Metric: app.LevelOldest, Value: 12}}, nil
		}),
		level(app.LevelOutbox, func(context.Context) ([]app.Reading, error) { return nil, errors.New("the database is away") }),
		level(app.LevelSlots, func(context.Context) ([]app.Reading, error) { <-hang; return nil, nil }),
		level(app.LevelMoney, func(context.Context) ([]app.Reading, error) { panic("a bug") }),
		level(app.LevelOrphans, func(context.Context) ([]app.Reading, error) { // labels that are not the metric's
			return []app.Reading{{Metric: app.LevelOrphans, Value: 1}}, nil
		}),
	}})
	for range 3 {
		expect(t, shown(t, m), `muster_queue_oldest_seconds 12`, `muster_scrape_errors{question="muster_queue_oldest_seconds"} 0`,
			`muster_scrape_errors{question="muster_outbox_bells"} 1`, `muster_scrape_errors{question="muster_slots"} 1`,
			`muster_scrape_errors{question="muster_cost_per_hour"} 1`, `muster_scrape_errors{question="muster_orphans"} 1`)
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

func BenchmarkRequestCounted(b *testing.B) {
	m := New(Config{})
	b.ReportAllocs()
	for b.Loop() {
		m.Add(app.MetricRequestsOpen, 1)
		m.Add(app.MetricRequestsOpen, -1)
		m.Add(app.MetricRequests, 1, "/clusters/{id}", "GET", "200")
		m.Took(app.MetricRequestTime, time.Millisecond, "/clusters/{id}", "GET")
	}
}
