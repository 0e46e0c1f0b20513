package execution

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/run"
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

// schedulesActions: a schedule's name is its cluster's own, one server alone takes what is due, and what was changed meanwhile isn't overwritten.
func (t *storeTest) schedulesActions() {
	t.Create("web", 1)
	who, now := app.Actor{Tenant: kit.Tenant, User: "ada"}, t.Clock.Now()
	s := run.ActionSchedule{Tenant: kit.Tenant, Cluster: "web-1", Name: "nightly", Action: "backup",
		Parameters: map[string]any{"keep": "3"}, On: []string{"node=n1"},
		Every: "1h", Zone: "Europe/Berlin", CreatedBy: "ada", CreatedAt: now, Next: now.Add(time.Hour)}
	t.Must(t.Store.AddActionSchedule(t.Ctx, who, s, 2))
	if err := t.Store.AddActionSchedule(t.Ctx, who, s, 2); app.CodeOf(err) != app.EConflict {
		t.Errorf("a second one of the name: %v", err)
	}
	other := s
	other.Name, other.Next = "other", now.Add(48*time.Hour)
	t.Must(t.Store.AddActionSchedule(t.Ctx, who, other, 2))
	other.Name = "third"
	if err := t.Store.AddActionSchedule(t.Ctx, who, other, 2); app.CodeOf(err) != app.EQuota {
		t.Errorf("one too many: %v", err)
	}
	if all, err := t.Store.ActionSchedules(t.Ctx, "t2", "web-1"); err != nil || len(all) > 0 {
		t.Errorf("another tenant's: %v, %v", all, err)
	}
	all, err := t.Store.ActionSchedules(t.Ctx, kit.Tenant, "web-1")
	if t.Must(err); len(all) != 2 || fmt.Sprint(all[0]) != fmt.Sprint(s) {
		t.Errorf("kept as %+v", all)
	}
	if due, err := t.Store.DueActionSchedules(t.Ctx, now, 9); err != nil || len(due) > 0 {
		t.Errorf("due too early: %v, %v", due, err)
	}
	due, err := t.Store.DueActionSchedules(t.Ctx, now.Add(time.Hour), 9)
	if t.Must(err); len(due) != 1 {
		t.Fatalf("%d are due", len(due))
	}
	for i, want := range []bool{true, false} {
		if is, err := t.Store.ClaimActionSchedule(t.Ctx, due[0], now.Add(2*time.Hour)); err != nil || is != want {
			t.Errorf("claim %d: %v, %v", i, is, err)
		}
	}
	ended := due[0]
	ended.Version++
	ended.LastAt, ended.LastOperation, ended.LastResult = now, 7, "Skipped."
	t.Must(t.Store.EndActionSchedule(t.Ctx, ended, app.Notice{}))
	t.Must(t.Store.PauseActionSchedule(t.Ctx, who, s, time.Time{}, now))
	ended.LastResult = "too late"
	t.Must(t.Store.EndActionSchedule(t.Ctx, ended, app.Notice{}))
	all, err = t.Store.ActionSchedules(t.Ctx, kit.Tenant, "web-1")
	if t.Must(err); !all[0].Paused || all[0].LastResult != "Skipped." || all[0].LastOperation != 7 || !all[0].LastAt.Equal(now) {
		t.Errorf("paused, it's %+v", all[0])
	}
	foreign := s
	foreign.Tenant = "t2"
	if err := t.Store.DeleteActionSchedule(t.Ctx, who, foreign, now); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant deletes it: %v", err)
	}
	t.Must(t.Store.DeleteActionSchedule(t.Ctx, who, s, now))
	if all, err := t.Store.ActionSchedules(t.Ctx, kit.Tenant, "web-1"); err != nil || len(all) != 1 {
		t.Errorf("deleted, there are %v, %v", all, err)
	}
}
