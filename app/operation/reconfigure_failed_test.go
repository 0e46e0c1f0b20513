package operation_test

import (
	"fmt"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
)

func updates(f *withWorker, m cluster.Update) {
	f.Helper()
	if _, err := f.Services.Operation.Updates.Update(f.Context(), f.Who, "shop", m); err != nil {
		f.Fatal(err)
	}
}

// TestReconfiguredAfterFailure: the configuration can be changed after a create, or another change, has failed, and what was left undone is
// finished with it.
func TestReconfiguredAfterFailure(t *testing.T) {
	set := cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 99}}
	for name, c := range map[string]struct {
		size int // that exists before; 0: none
		fail string
		ask  func(f *withWorker)
	}{
		"a creation": {0, "n3.web.start", func(f *withWorker) {
			f.Ask(f.Who, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "shop", Size: 4}})
		}},
		"a creation's machine": {0, "n3.confirm", func(f *withWorker) {
			f.Ask(f.Who, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "shop", Size: 4}})
		}},
		"a growth": {3, "n4.web.install", func(f *withWorker) { updates(f, cluster.Update{Kind: app.OperationResize, Size: 5}) }},
		"a shrink": {5, "n5.delete", func(f *withWorker) {
			updates(f, cluster.Update{Kind: app.OperationResize, Nodes: []string{"n5"}})
		}},
		"a wrong value": {4, "n3.web.start", func(f *withWorker) {
			updates(f, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": -1}})
		}},
		"services that come": {3, "n3.cache.start", func(f *withWorker) {
			updates(f, cluster.Update{Kind: app.OperationAddServices, Services: []string{"cache"}})
		}},
		"a restart": {4, "n3.web.start", func(f *withWorker) { updates(f, cluster.Update{Kind: app.OperationRestart}) }},
		"a repair": {4, "n3.web.start", func(f *withWorker) {
			updates(f, cluster.Update{Kind: app.OperationRepair, Nodes: []string{"n3"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newWithWorker(t)
			if c.size > 0 {
				f.Shop(c.size, nil)
			}
			f.FailAt = c.fail
			c.ask(f)
			f.Work()
			if v := f.See("shop"); v.Status != app.ClusterFailed {
				t.Fatalf("though %s failed, it is %s", c.fail, v.Status)
			}
			f.FailAt = ""
			p := f.Preview(set)
			if p.Kind != app.OperationRepair {
				t.Errorf("it is shown as %s", p.Kind)
			}
			m := set
			m.PlanHash = p.PlanHash
			a, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", m)
			if err != nil || a.Operation == 0 {
				t.Fatal(err)
			}
			f.Work()
			v := f.See("shop")
			if v.Status != app.ClusterActive || v.Operations[0].Kind != app.OperationRepair {
				t.Fatalf("it is %s (%s)", v.Status, v.Message)
			}
			for _, n := range v.Nodes {
				if n.Status != app.NodeReady || n.Leaving {
					t.Errorf("%+v", n)
				}
				if n.Name != "n3" && n.Name != "n4" {
					continue
				}
				if port := fmt.Sprint(f.Configs[n.Name+".web.configure"]["port"]); n.Services[0] == "web" && port != "99" {
					t.Errorf("web on %s has the port %s", n.Name, port)
				}
			}
		})
	}
}
