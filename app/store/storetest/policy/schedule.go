package policy

import (
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/schedule"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// powering plans a sleep or a wake of one step for each node.
type powering struct{}

func (powering) Plan(r plan.Request) (plan.Plan, error) {
	action := app.ActionSleep
	if r.Kind == app.OperationWake {
		action = app.ActionWake
	}
	p := plan.Plan{Kind: r.Kind}
	for _, n := range r.Nodes {
		p.Steps = append(p.Steps, plan.Step{ID: n.Name + "." + string(action), Node: n.Name, Action: action, Rank: time.Second})
	}
	return p, nil
}

// schedules: what is due is done once, late where it has to be, and left out and notified of after an hour. The clock is at noon of
// 2 January 2026, a Friday.
func (t *moneyTest) schedules() {
	a := all.New(all.Config{Store: t.Store, Planner: powering{}, Now: t.Clock.Now, Catalog: template.NewCatalog})
	status := func(want app.ClusterStatus) {
		t.Helper()
		if c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1"); err != nil || c.Status != want {
			t.Fatalf("the cluster is %s, want %s; %v", c.Status, want, err)
		}
	}
	run := func(want int) {
		t.Helper()
		if n, err := a.Operation.Schedules.RunSchedules(t.Ctx); err != nil || n != want {
			t.Fatalf("%d were begun, want %d; %v", n, want, err)
		}
	}
	notified := func(words ...string) {
		t.Helper()
		list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: "ada"}, 0, 10)
		t.Must(err)
		list = slices.DeleteFunc(list, func(n app.Notice) bool { return n.Kind == app.NoticeReady }) // of its creation
		if len(list) != len(words) {
			t.Fatalf("sent %+v, want %q", list, words)
		}
		for i, w := range words {
			if text := list[i].Title + " " + list[i].Text; !strings.Contains(text, w) {
				t.Errorf("%q is not to be found in %s", w, text)
			}
		}
	}
	t.leased("web", template.Lease{}, 0)
	t.Drain()
	status(app.ClusterActive)
	set, err := a.Operation.Schedules.SetSchedule(t.Ctx, kit.Ada, "web", schedule.Schedule{Sleep: "0 19 * * 1-5", Wake: "0 7 * * 1-5", Zone: "Europe/Berlin"})
	t.Must(err)
	if len(set.Next) != 6 || !set.Next[0].At.Equal(time.Date(2026, 1, 2, 18, 0, 0, 0,
		time.UTC)) || set.Next[0].Kind != app.OperationSleep || set.ChangedBy != "ada" {
		t.Errorf("next: %+v", set)
	}
	_, err = a.Operation.Schedules.SetSchedule(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "eve", Role: app.RoleUser}, "web", schedule.Schedule{})
	t.Code(err, app.ENotFound)
	run(0)
	t.Clock.Move(6 * time.Hour)
	run(1) // 18:00 UTC
	run(0)
	t.Drain()
	status(app.ClusterAsleep)
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if ops[0].Requester != "schedule" || ops[0].Kind != app.OperationSleep {
		t.Errorf("asked for by %+v", ops[0])
	}
	// The server is away over the weekend until Monday 6:40 UTC: the wake at 6:00 is caught up.
	t.Clock.Move(60*time.Hour + 40*time.Minute)
	run(1)
	t.Drain()
	status(app.ClusterActive)
	notified()
	// Something else is in progress at 18:00: it is tried again, and done when that is over.
	t.Clock.Move(11*time.Hour + 20*time.Minute)
	op, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationRestart,
		Requester: "ada",
		CreatedAt: t.Clock.Now()}, Plan: plan.Plan{Kind: app.OperationRestart, Steps: []plan.Step{{ID: "n1.a.start", Node: "n1", Service: "a",
		Action: app.ActionStart}}}})
	t.Must(err)
	run(0)
	t.Clock.Move(30 * time.Second)
	run(0) // not yet again
	t.Drain()
	t.Clock.Move(time.Minute)
	run(1)
	t.Drain()
	status(app.ClusterAsleep)
	// No one is there for more than an hour after the wake: it is left out, and notified of, once.
	t.Clock.Move(15 * time.Hour)
	run(0)
	run(0)
	status(app.ClusterAsleep)
	notified("web did not wake as scheduled. It was scheduled for 6 Jan 2026 06:00 UTC.")
	// A cluster that cannot be put to sleep is notified of at once.
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationWake,
		Requester: "ada",
		CreatedAt: t.Clock.Now()}, Plan: plan.Plan{Kind: app.OperationWake, Steps: []plan.Step{{ID: "n1.wake", Node: "n1", Action: app.ActionWake}}}})
	t.Must(err)
	_ = op
	ops, err = t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: ops[0].ID, Act: app.ControlCancel, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	t.Clock.Move(9 * time.Hour)
	run(0)
	notified("has failed, so it can't be put to sleep", "did not wake")
	// Taken away, nothing comes of it any more.
	set, err = a.Operation.Schedules.SetSchedule(t.Ctx, kit.Ada, "web", schedule.Schedule{})
	t.Must(err)
	if !set.None() || len(set.Next) != 0 {
		t.Errorf("taken away: %+v", set)
	}
	t.Clock.Move(240 * time.Hour)
	run(0)
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.schedule", Limit: 10})
	t.Must(err)
	if len(entries) != 2 || entries[0].Who != "ada" {
		t.Errorf("the audit tells %+v", entries)
	}
	// It goes with its cluster.
	_, err = a.Operation.Schedules.SetSchedule(t.Ctx, kit.Ada, "web", schedule.Schedule{Sleep: "0 19 * * 1-5", Zone: "Europe/Berlin"})
	t.Must(err)
	t.gone("web-1", 1)
	status(app.ClusterDeleted)
	left, err := t.Store.ClusterSchedule(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if !left.None() {
		t.Errorf("of a cluster that is gone there is the schedule %+v", left)
	}
	t.Clock.Move(240 * time.Hour)
	run(0)
}
