package operation_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/plan"
)

// failed updates, has a step fail for good, and returns the preview of the rollback.
func (f *withWorker) failed(m cluster.Update, step string) operation.RollBackPreview {
	f.Helper()
	f.FailAt = step
	f.Update(m)
	f.Work()
	f.FailAt = ""
	if v := f.See("shop"); v.Operations[0].Status != app.OperationFailed {
		f.Fatalf("%s is %s though %s failed", m.Kind, v.Operations[0].Status, step)
	}
	p, err := f.Services.Operation.RollBacks.PreviewRollBack(f.Context(), f.Who, "shop", 0, "")
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// undone rolls back as it was shown, and returns the steps in the order in which they ended.
func (f *withWorker) undone(p operation.RollBackPreview) []string {
	f.Helper()
	if _, err := f.Services.Operation.RollBacks.RollBack(f.Context(), f.Who, "shop", 0, p.PlanHash, ""); err != nil {
		f.Fatal(err)
	}
	done := f.Work()
	if v := f.See("shop"); v.Operations[0].Kind != app.OperationRollBack || v.Operations[0].Status != app.OperationSucceeded || v.Status != app.ClusterActive {
		f.Fatalf("after the rollback the cluster is %s, its operation %+v", v.Status, v.Operations[0])
	}
	return done
}

// TestAShrunkClusterIsRolledBack: a machine that was given back already is made again with its services, and the load balancer is notified of it.
func TestAShrunkClusterIsRolledBack(t *testing.T) {
	f := newWithWorker(t)
	before := f.Shop(5, nil)
	updated := f.Preview(cluster.Update{Kind: app.OperationResize, Size: 3})
	var gone []string
	for _, n := range updated.Nodes {
		if n.Change == plan.NodeGone {
			gone = append(gone, n.Name)
		}
	}
	if len(gone) != 2 {
		t.Fatalf("%v go", gone)
	}
	p := f.failed(cluster.Update{Kind: app.OperationResize, Size: 3}, gone[1]+".web.stop")
	if len(p.Deletes) > 0 || p.DeletesCluster {
		t.Errorf("the rollback deletes %v, gone: %v", p.Deletes, p.DeletesCluster)
	}
	done := f.undone(p)
	at := func(id string) int { return slices.Index(done, id) }
	if at(gone[0]+".create") < 0 || at(gone[0]+".create") > at(gone[0]+".web.start") || at(gone[1]+".web.start") < 0 || at(gone[1]+".delete") >= 0 {
		t.Errorf("of %v the first was given back and the second had begun to stop, and the rollback was %v", gone, done)
	}
	reload := slices.IndexFunc(done, func(id string) bool { return strings.HasSuffix(id, ".lb.reload") })
	if reload < at(gone[0]+".web.start") {
		t.Errorf("the load balancer was reloaded before the server was there again: %v", done)
	}
	after := f.See("shop")
	if len(after.Nodes) != len(before.Nodes) || after.CostPerHour != before.CostPerHour {
		t.Fatalf("%d nodes at %g were %d at %g", len(after.Nodes), after.CostPerHour, len(before.Nodes), before.CostPerHour)
	}
	for i, n := range after.Nodes {
		was := before.Nodes[i]
		if n.Name != was.Name || n.Status != app.NodeReady || !slices.Equal(n.Services, was.Services) || (n.MachineID == was.MachineID) != (n.Name != gone[0]) {
			t.Errorf("%+v was %+v", n, was)
		}
	}
}
