package executiontest

import (
	"context"
	"reflect"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/template"
)

// rounds: a worker that waits gets the check batch with all that it needs; what it reports counts once, and no one else's does.
func (t *coordinatorTest) rounds() {
	n := apptest.NewCluster("t1", "looked", 1, t.Services.Execution.Coordinator.Now().Add(-time.Hour), apptest.Chain(1))
	n.Definition.Health = &template.HealthPolicy{Interval: time.Minute}
	n.Definition.Config = map[string]any{"web": map[string]any{"port": 8080}}
	check := &template.HealthCheck{HTTP: &template.HTTPHealth{Port: "%config.web.port%"}, Failures: 1}
	start := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}, Timeout: time.Minute}
	for _, s := range []string{"a", "b"} {
		n.Definition.Services[s] = &template.Service{About: template.About{Name: s}, Actions: map[app.Action]*template.ServiceAction{app.ActionStart: start}}
	}
	n.Definition.Services["b"].Health = check
	_, err := t.store.CreateCluster(t.ctx, n)
	t.must(err)
	c, w := t.worker("t1")
	for as := t.claim(c, w); as != nil; {
		answer := t.report(c, w, success(as))
		if answer.Err != nil {
			t.Fatal(answer.Err)
		}
		as = answer.Next
	}
	stranger, x := t.worker("t2")
	got := make(chan *execution.CheckBatch, 2)
	ctx, cancel := context.WithTimeout(t.ctx, apptest.Hangs)
	defer cancel()
	wait := func(c execution.Coordinator, w app.WorkerID) {
		r, err := c.(execution.CheckBatchSource).AwaitCheckBatch(ctx, w)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		got <- r
	}
	go wait(c, w)
	go wait(stranger, x)
	var r *execution.CheckBatch
	for r == nil && ctx.Err() == nil {
		if _, err := t.Services.Execution.Coordinator.SignalCheckBatches(t.ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case r = <-got:
		case <-time.After(10 * time.Millisecond):
		}
	}
	if r == nil || r.Tenant != "t1" || len(r.Nodes) != 1 || len(r.SSHKey) == 0 || r.Within < time.Minute {
		t.Fatalf("round: %+v", r)
	}
	want := []execution.CheckBatchItem{{Service: "b", Check: &template.HealthCheck{HTTP: &template.HTTPHealth{Port: "8080"}, Failures: 1}}}
	if !reflect.DeepEqual(r.Nodes[0].Checks, want) {
		t.Errorf("checks: %+v, want %+v", r.Nodes[0].Checks, want)
	}
	report := execution.CheckBatchReport{Cluster: r.Cluster, Round: r.Round,
		Findings: []health.NodeFinding{{Node: "n1", Wrong: map[string]string{"b": "no answer"}}}}
	t.code(stranger.(execution.CheckBatchSource).ReportCheckBatch(t.ctx, x, report), app.ENotFound)
	t.code(stranger.(execution.CheckBatchSource).ReportCheckBatch(t.ctx, app.WorkerID{Tenant: "t1", Name: w.Name}, report), app.EForbidden)
	t.must(c.(execution.CheckBatchSource).ReportCheckBatch(t.ctx, w, report))
	t.code(c.(execution.CheckBatchSource).ReportCheckBatch(t.ctx, w, report), app.EStale)
	h, err := t.store.ClusterHealth(t.ctx, "t1", r.Cluster)
	t.must(err)
	if h.State != health.Unhealthy || h.Reason != "n1 is unhealthy: b: no answer." {
		t.Errorf("health: %+v", h)
	}
	cancel()
	if r := <-got; r != nil {
		t.Errorf("a worker of another tenant got a round: %+v", r)
	}
}
