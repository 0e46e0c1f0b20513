package operation_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/plan"
	"muster/app/window"
)

// A repair of a node whose machine is about to be taken away drains it, keeps nothing of it, and waits for no maintenance window; any other one does.
func TestRepairOfAnInterruptedNodeDrainsItAtOnce(t *testing.T) {
	f := windowed(t, window.Settings{Windows: weekend.Windows, AppliesTo: []window.Reason{window.Reason(app.OperationRepair)}})
	drains := func(p appcluster.UpdatePreview) (ids []string) {
		for _, s := range p.Plan.Steps {
			if plan.Drains(s.ID, s.Node, s.Service, s.Action) {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}
	m := appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n2"}}
	m.KeepFailed = "4h"
	if p := f.Preview(m); p.Window == nil || len(drains(p)) != 0 || len(p.Plan.Keeps) != 1 {
		t.Errorf("nothing is announced: %+v", p)
	}
	f.SQL(`UPDATE nodes SET leaves_at = 1767358800000000 WHERE name = 'n2'`)
	p := f.Preview(m)
	stops := slices.ContainsFunc(drains(p), func(id string) bool { return strings.HasPrefix(id, "n2.") && strings.HasSuffix(id, ".drain.stop") })
	if p.Window != nil || !stops || len(p.Plan.Keeps) != 0 ||
		!slices.ContainsFunc(p.Notes, func(n string) bool {
			return strings.HasPrefix(n, "n2's machine will be interrupted at 13:00 UTC.")
		}) {
		t.Errorf("interrupted: %v, keeps %v, %q, %+v", drains(p), p.Plan.Keeps, p.Notes, p.Window)
	}
	m.Nodes = nil
	if p := f.Preview(m); len(p.Nodes) < 2 || p.Nodes[1].Change != plan.NodeReplaced || p.Nodes[0].Change != "" {
		t.Errorf("no node is named: %+v", p.Nodes)
	}
	m.Nodes = []string{"n1", "n2"}
	if p := f.Preview(m); p.Window == nil {
		t.Error("another node is replaced too, and no window is waited for")
	}
}
