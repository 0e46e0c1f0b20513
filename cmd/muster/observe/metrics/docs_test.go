package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"muster/app/observe"
)

var write = flag.Bool("write-metrics", false, "regenerate the list of metrics in docs/metrics.md")

const (
	docs  = "../../../../docs/metrics.md"
	begin = "<!-- Made by: make generate -->\n"
	end   = "<!-- end of metrics -->\n"
)

// everything is all that a server can show, with a level of every kind.
func everything(t *testing.T) *Metrics {
	t.Helper()
	var readings []observe.Reading
	for _, l := range observe.Levels {
		readings = append(readings, observe.Reading{Metric: l, Labels: make([]string, len(l.Labels))})
	}
	m := New(Config{QueryMetrics: []observe.Gauging{{Name: "all", Metrics: observe.Levels, Read: func(context.Context) ([]observe.Reading, error) { return readings, nil }}}})
	for _, one := range observe.AllMetrics {
		m.Add(one, 0, make([]string, len(one.Labels))...)
		m.ObserveDuration(one, 0, make([]string, len(one.Labels))...)
	}
	return m
}

// The page lists every metric, as it is.
func TestDocsListAllMetrics(t *testing.T) {
	var list strings.Builder
	list.WriteString(begin + "\n| name | kind | labels | what it says |\n|---|---|---|---|\n")
	for _, m := range slices.Concat(observe.AllMetrics, observe.Levels) {
		fmt.Fprintf(&list, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), m.Help)
	}
	list.WriteString("\n" + end)
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	from, to := bytes.Index(page, []byte(begin)), bytes.Index(page, []byte(end))
	if from < 0 || to < from {
		t.Fatalf("docs/metrics.md has lost one of the comments around the list of metrics: %s%s", begin, end)
	}
	fresh := string(page[:from]) + list.String() + string(page[to+len(end):])
	if *write {
		if err := os.WriteFile(docs, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if fresh != string(page) {
		t.Error("docs/metrics.md doesn't list the metrics of app/observe/meter_list.go: run make generate, or only\n" +
			"go test ./cmd/muster/observe/metrics -run TestDocsListAllMetrics -write-metrics")
	}
}

var named = regexp.MustCompile(`\b(muster|go|process)_[a-z0-9_]+`)

// What dashboards and alerts ask for is shown, under that name.
func TestDashboardsAndAlertsNameWhatIsShown(t *testing.T) {
	known := map[string]bool{}
	families, err := everything(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		name := f.GetName()
		known[name] = true
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			known[name+suffix] = true
		}
	}
	check := func(where, expr string) {
		t.Helper()
		names := named.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("%s uses no metric: %s", where, expr)
		}
		for _, n := range names {
			if !known[n] {
				t.Errorf("%s uses %s, which isn't in app/observe/meter_list.go", where, n)
			}
		}
		if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
			t.Errorf("%s: unbalanced brackets: %s", where, expr)
		}
	}
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Labels           map[string]string
				Annotations      map[string]string
			}
		}
	}
	b, err := os.ReadFile("../../../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, &rules); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			n++
			check("deploy/prometheus/rules.yml: alert "+r.Alert, r.Expr)
			if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("deploy/prometheus/rules.yml: alert %s needs a severity, a summary and a description", r.Alert)
			}
		}
	}
	if n == 0 {
		t.Error("there are no alerts")
	}
	var board struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if b, err = os.ReadFile("../../../../deploy/grafana/muster.json"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range board.Panels {
		if seen[p.ID] || len(p.Targets) == 0 {
			t.Errorf("deploy/grafana/muster.json: panel %q has no expression, or the ID %d of another panel", p.Title, p.ID)
		}
		seen[p.ID] = true
		for _, q := range p.Targets {
			check("deploy/grafana/muster.json: panel "+p.Title, q.Expr)
		}
	}
	if len(board.Panels) == 0 {
		t.Error("the dashboard is empty")
	}
}
