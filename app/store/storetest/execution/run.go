package execution

import (
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/store/storetest/kit"
)

// runsCommands: a command is kept with its operation, and the exit codes with its steps. Whatever they are, the cluster is what it was.
func (t *storeTest) runsCommands() {
	t.Create("web", 2)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		t.Finish(c, false)
	}
	p := plan.Plan{Kind: app.OperationRun, Run: &plan.Run{Command: "uptime", Action: "look", Parameters: map[string]any{"n": "1"}}, Steps: []plan.Step{
		{ID: "n1.run", Node: "n1", Action: app.ActionRun}, {ID: "n2.run", Node: "n2", Action: app.ActionRun}}}
	op, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: p, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationRun,
		Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	if r, err := t.Store.RunOf(t.Ctx, kit.Tenant, op.ID); err != nil || fmt.Sprint(r) != fmt.Sprint(*p.Run) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := t.Store.RunOf(t.Ctx, "t2", op.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant's: %v", err)
	}
	code := map[string]int{"n1": 0, "n2": 3}
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		exit := code[c.Step.Node]
		f := execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Exit: &exit, Cut: exit != 0}
		if exit != 0 {
			f.Err = &app.Error{Code: app.EScript, Message: "It failed."}
		}
		_, err := t.Store.FinishSteps(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w"}, []execution.Finish{f})
		t.Must(err)
	}
	exits, err := t.Store.RunExits(t.Ctx, kit.Tenant, op.ID)
	t.Must(err)
	if fmt.Sprint(exits) != "map[0:{0 false} 1:{3 true}]" {
		t.Errorf("the exit codes are %v", exits)
	}
	if exits, err := t.Store.RunExits(t.Ctx, "t2", op.ID); err != nil || len(exits) > 0 {
		t.Errorf("another tenant's: %v, %v", exits, err)
	}
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if c.Status != app.ClusterActive || c.Message != "" {
		t.Errorf("the cluster is %s: %s", c.Status, c.Message)
	}
}
