//go:build real

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// A server with its workers is killed with -9 in the middle of every kind of update, again and again, a little later each time;
// what comes of it is what was shown before.
func TestRealServerKilledInTheMiddleOfEveryUpdate(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	v := p.await(p.create(3).ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("cluster is %s: %s\n%s", v.Status, v.Message, p.out)
	}
	for _, a := range []cluster.Update{
		{Kind: app.OperationResize, Size: 5},
		{Kind: app.OperationReconfigure, Config: map[string]any{"app": map[string]any{"port": 8083},
			"lb": map[string]any{"backends": "%join(map(ip.service.app,'$:8083'),' ')%"}}},
		{Kind: app.OperationRestart},
		{Kind: app.OperationStop},
		{Kind: app.OperationStart},
		{Kind: app.OperationRepair, Nodes: []string{"n1", "n3"}},
		{Kind: app.OperationResize, Size: 3},
	} {
		shown, err := p.client().Operations.UpdatePreview(t.Context(), v.ID, a)
		if err != nil {
			t.Fatalf("%s: %v", a.Kind, err)
		}
		a.PlanHash = shown.PlanHash
		answer, err := p.client().Operations.Update(t.Context(), v.ID, a)
		if err != nil {
			t.Fatalf("%s: %v", a.Kind, err)
		}
		if shown.NoChanges || answer.Operation == 0 {
			t.Fatalf("%s: shown as nothing %v, and answered with operation %d", a.Kind, shown.NoChanges, answer.Operation)
		}
		for i := range 5 {
			time.Sleep(time.Duration(30+50*i) * time.Millisecond)
			p.kill()
			p.start()
		}
		v = p.await(v.ID)
		if o := v.Operations[0]; v.Status != app.ClusterActive || o.ID != answer.Operation || o.Status != app.OperationSucceeded {
			t.Fatalf("after the %s the cluster is %s (%s) and its latest operation %+v\n%s", a.Kind, v.Status, v.Message, o, p.out)
		}
		p.ranAsShown(v, shown)
		if a.Kind != app.OperationStop && a.Kind != app.OperationReconfigure { // the servers take their new port with the restart
			p.page(v)
		}
		if machines, _ := filepath.Glob(filepath.Join(p.data, "providers", "sandbox", "nodes", "*")); len(machines) != shown.After.Nodes || len(v.Nodes) != shown.After.Nodes {
			t.Errorf("after the %s there are %d machines and %d nodes, want %d", a.Kind, len(machines), len(v.Nodes), shown.After.Nodes)
		}
	}
}

// ranAsShown holds the steps of the latest operation to the plan that was shown before.
func (p *process) ranAsShown(v cluster.View, shown cluster.UpdatePreview) {
	p.t.Helper()
	steps, err := p.client().Operations.Steps(p.t.Context(), v.ID, v.Operations[0].ID)
	if err != nil {
		p.t.Fatal(err)
	}
	var ran, planned []string
	for _, s := range steps {
		ran = append(ran, s.ID+" "+string(s.State))
	}
	for _, s := range shown.Plan.Steps {
		if !s.Join {
			planned = append(planned, s.ID+" "+string(app.StepSucceeded))
		}
	}
	if fmt.Sprint(ran) != fmt.Sprint(planned) {
		p.t.Errorf("shown was\n%v, and what ran is\n%v", planned, ran)
	}
}
