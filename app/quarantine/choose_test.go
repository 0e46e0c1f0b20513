package quarantine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestChoose(t *testing.T) {
	node := func(name string, change func(*app.Node)) app.Node {
		n := app.Node{Name: name, MachineID: "m-" + name, Status: app.NodeReady}
		if change != nil {
			change(&n)
		}
		return n
	}
	well := []app.Node{node("n10", nil), node("n2", nil), node("n1", nil)}
	failed := map[string]string{"n10": "n10.web.install failed", "n2": "n2.web.install failed"}
	for name, c := range map[string]struct {
		keep   template.KeepTime
		nodes  []app.Node
		failed map[string]string
		room   int
		want   string
		note   string
	}{
		"failed ones, by number":     {"4h", well, failed, 5, "n2 n10", ""},
		"off":                        {template.KeepOff, well, failed, 5, "", ""},
		"nothing said":               {"", well, failed, 5, "", ""},
		"nothing failed":             {"4h", well, nil, 5, "", ""},
		"less room than failed":      {"4h", well, failed, 1, "n2", "n10 isn't kept"},
		"no room":                    {"4h", well, failed, 0, "", "at most 10 failed machines"},
		"no machine":                 {"4h", []app.Node{node("n2", func(n *app.Node) { n.MachineID = "" })}, failed, 5, "", "n2 has no machine"},
		"nothing was asked for":      {"4h", []app.Node{node("n2", func(n *app.Node) { n.Status = app.NodePlanned })}, failed, 5, "", "n2 has no machine"},
		"deleted":                    {"4h", []app.Node{node("n2", func(n *app.Node) { n.Status = app.NodeDeleted })}, failed, 5, "", "n2 has no machine"},
		"lost":                       {"4h", []app.Node{node("n2", func(n *app.Node) { n.LostAt = time.Unix(1, 0) })}, failed, 5, "", "is lost"},
		"opened by the pool's key":   {"4h", []app.Node{node("n2", func(n *app.Node) { n.TakenFrom, n.Pool = "pool-1", "warm" })}, failed, 5, "", "key of its pool"},
		"it was kept before":         {"4h", []app.Node{node("n2", func(n *app.Node) { n.TakenFrom = "web-n1-kept-7" })}, failed, 5, "n2", ""},
		"created, and didn't answer": {"15m", []app.Node{node("n2", func(n *app.Node) { n.Status = app.NodeCreated })}, failed, 5, "n2", ""},
	} {
		s := Choose(c.keep, c.nodes, c.failed, c.room)
		if got := strings.Join(s.Nodes(), " "); got != c.want || !strings.Contains(strings.Join(s.Notes, " "), c.note) || c.note == "" && len(s.Notes) > 0 {
			t.Errorf("%s: kept %q, notes %q; want %q and %q", name, got, s.Notes, c.want, c.note)
		}
		again := slices.Clone(c.nodes)
		slices.Reverse(again)
		if got := Choose(c.keep, again, c.failed, c.room); !slices.Equal(got.Nodes(), s.Nodes()) {
			t.Errorf("%s: in another order %v are kept", name, got.Nodes())
		}
	}
}

func TestFailedIn(t *testing.T) {
	got := FailedIn([]app.Step{
		{ID: "n1.create", Node: "n1", State: app.StepSucceeded, Error: "an earlier attempt failed"},
		{ID: "n2.web.install", Node: "n2", State: app.StepFailed, Error: "exit code 1"},
		{ID: "n2.web.start", Node: "n2", State: app.StepDropped},
		{ID: "n3.web.install", Node: "n3", State: app.StepDropped, Error: "exit code 1"}, // cancelled while it was to be retried
		{ID: "all.web.start", State: app.StepFailed, Error: "x", Join: true},
	})
	if len(got) != 2 || got["n2"] != "n2.web.install failed" || got["n3"] != "n3.web.install failed" {
		t.Errorf("failed are %v", got)
	}
}
