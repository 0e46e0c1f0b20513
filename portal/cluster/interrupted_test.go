package cluster

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
)

func TestInterruptedNodesAreShown(t *testing.T) {
	n := app.Node{Name: "n2", Status: app.NodeReady, LeavesAt: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	c := Show{View: cluster.View{Cluster: app.Cluster{ID: "web-1"}, Nodes: []app.Node{n}}}
	row := func(n app.Node) string {
		var b strings.Builder
		if err := NodeRow(c, n).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if html := row(n); !strings.Contains(html, `will be interrupted at <time datetime="2026-01-02T15:04:05Z">`) {
		t.Errorf("interrupted:\n%s", html)
	}
	p := ChangePanel{View: c.View, Unhealthy: []string{"n2"}}
	if got := p.unhealthySentence(); got != "1 node is lost, unhealthy or about to be interrupted: n2." {
		t.Error(got)
	}
	n.LostAt = n.LeavesAt
	if html := row(n); strings.Contains(html, "interrupted") {
		t.Errorf("lost:\n%s", html)
	}
}
