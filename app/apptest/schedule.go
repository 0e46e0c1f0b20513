package apptest

import (
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
)

// powering plans a sleep or a wake of one step for each node.
type powering struct{}

func (powering) Plan(r app.PlanRequest) (app.Plan, error) {
	action := app.ActionSleep
	if r.Kind == app.OperationWake {
		action = app.ActionWake
	}
	p := app.Plan{Kind: r.Kind}
	for _, n := range r.Nodes {
		p.Steps = append(p.Steps, app.PlanStep{ID: n.Name + "." + string(action), Node: n.Name, Action: action, Rank: time.Second})
	}
	return p, nil
}

// schedules: what is due is done once, late where it has to be, and left out and told after an hour. The clock stands at noon of
// 2 January 2026, a Friday.
func (t *moneyTest) schedules() {
	a := all.New(all.Deps{Store: t.s, Planner: powering{}, Now: t.clock.Now, Catalog: app.NewCatalog})
	status := func(want app.ClusterStatus) {
		t.Helper()
		if c, err := t.s.Cluster(t.ctx, tenant, "web-1"); err != nil || c.Status != want {
			t.Fatalf("the cluster is %s, want %s; %v", c.Status, want, err)
		}
	}
	run := func(want int) {
		t.Helper()
		if n, err := a.RunSchedules(t.ctx); err != nil || n != want {
			t.Fatalf("%d were begun, want %d; %v", n, want, err)
		}
	}
	told := func(words ...string) {
		t.Helper()
		list, err := t.s.NoticesFor(t.ctx, tenant, &app.NoticeReader{User: "ada"}, 0, 10)
		t.must(err)
		list = slices.DeleteFunc(list, func(n app.Notice) bool { return n.Kind == app.NoticeReady }) // of its creation
		if len(list) != len(words) {
			t.Fatalf("told %+v, want %q", list, words)
		}
		for i, w := range words {
			if text := list[i].Title + " " + list[i].Text; !strings.Contains(text, w) {
				t.Errorf("%q is not to be found in %s", w, text)
			}
		}
	}
	t.leased("web", app.Lease{}, 0)
	t.drain()
	status(app.ClusterActive)
	set, err := a.SetSchedule(t.ctx, ada, "web", app.Schedule{Sleep: "0 19 * * 1-5", Wake: "0 7 * * 1-5", Zone: "Europe/Berlin"})
	t.must(err)
	if len(set.Next) != 6 || !set.Next[0].At.Equal(time.Date(2026, 1, 2, 18, 0, 0, 0, time.UTC)) || set.Next[0].Kind != app.OperationSleep || set.ChangedBy != "ada" {
		t.Errorf("next: %+v", set)
	}
	_, err = a.SetSchedule(t.ctx, app.Actor{Tenant: tenant, User: "eve", Role: app.RoleUser}, "web", app.Schedule{})
	t.code(err, app.ENotFound)
	run(0)
	t.clock.Move(6 * time.Hour)
	run(1) // 18:00 UTC
	run(0)
	t.drain()
	status(app.ClusterAsleep)
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	if ops[0].Requester != "schedule" || ops[0].Kind != app.OperationSleep {
		t.Errorf("asked for by %+v", ops[0])
	}
	// The server is away over the weekend until Monday 6:40 UTC: the wake at 6:00 is caught up.
	t.clock.Move(60*time.Hour + 40*time.Minute)
	run(1)
	t.drain()
	status(app.ClusterActive)
	told()
	// Something else is under way at 18:00: it is tried again, and done when that is over.
	t.clock.Move(11*time.Hour + 20*time.Minute)
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Operation: app.Operation{Tenant: tenant, Cluster: "web-1", Kind: app.OperationRestart, Requester: "ada",
		CreatedAt: t.clock.Now()}, Plan: app.Plan{Kind: app.OperationRestart, Steps: []app.PlanStep{{ID: "n1.a.start", Node: "n1", Service: "a", Action: app.ActionStart}}}})
	t.must(err)
	run(0)
	t.clock.Move(30 * time.Second)
	run(0) // not yet again
	t.drain()
	t.clock.Move(time.Minute)
	run(1)
	t.drain()
	status(app.ClusterAsleep)
	// Nobody is there for more than an hour after the wake: it is left out, and told, once.
	t.clock.Move(15 * time.Hour)
	run(0)
	run(0)
	status(app.ClusterAsleep)
	told("web did not wake by its schedule. It was to at 6 Jan 2026 06:00 UTC.")
	// A cluster that cannot be put to sleep is told of at once.
	_, err = t.s.SubmitOperation(t.ctx, app.NewOperation{Operation: app.Operation{Tenant: tenant, Cluster: "web-1", Kind: app.OperationWake, Requester: "ada",
		CreatedAt: t.clock.Now()}, Plan: app.Plan{Kind: app.OperationWake, Steps: []app.PlanStep{{ID: "n1.wake", Node: "n1", Action: app.ActionWake}}}})
	t.must(err)
	_ = op
	ops, err = t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: ops[0].ID, Act: app.ControlCancel, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	t.clock.Move(9 * time.Hour)
	run(0)
	told("has failed, so it cannot be put to sleep", "did not wake")
	// Taken away, nothing comes of it any more.
	set, err = a.SetSchedule(t.ctx, ada, "web", app.Schedule{})
	t.must(err)
	if !set.None() || len(set.Next) != 0 {
		t.Errorf("taken away: %+v", set)
	}
	t.clock.Move(240 * time.Hour)
	run(0)
	deeds, err := t.s.Audit(t.ctx, app.AuditFilter{Tenants: []string{tenant}, Act: "cluster.schedule", Limit: 10})
	t.must(err)
	if len(deeds) != 2 || deeds[0].Who != "ada" {
		t.Errorf("the audit tells %+v", deeds)
	}
	// It goes with its cluster.
	_, err = a.SetSchedule(t.ctx, ada, "web", app.Schedule{Sleep: "0 19 * * 1-5", Zone: "Europe/Berlin"})
	t.must(err)
	t.gone("web-1", 1)
	status(app.ClusterDeleted)
	left, err := t.s.ClusterSchedule(t.ctx, tenant, "web-1")
	t.must(err)
	if !left.None() {
		t.Errorf("of a cluster that is gone there is the schedule %+v", left)
	}
	t.clock.Move(240 * time.Hour)
	run(0)
}
