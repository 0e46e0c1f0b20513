package health

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/health"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// looked is a cluster of three nodes that runs and is managed.
func (t *storeTest) looked(name string, p *template.HealthPolicy) (id string) {
	t.Helper()
	return t.lookedFor(name, p, nil)
}

// lookedFor is looked with an idle policy.
func (t *storeTest) lookedFor(name string, p *template.HealthPolicy, idle *template.IdlePolicy, scale ...*template.ScalingPolicy) (id string) {
	t.Helper()
	n := apptest.NewCluster(kit.Tenant, name, 3, t.Clock.Now(), apptest.Chain(3))
	n.Definition.Health, n.Definition.Idle = p, idle
	for _, s := range scale {
		n.Definition.Scaling = s
	}
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		f := execution.Finish{Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}, Now: t.Clock.Now()}
		if c.Step.Action == app.ActionCreate || c.Step.Action == app.ActionConfirm {
			f.Node = &execution.NodeUpdate{Status: app.NodeReady, Machine: &family.Machine{ID: name + c.Node.Name, State: family.MachineRunning}}
		}
		done, err := t.Store.FinishSteps(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w"}, []execution.Finish{f})
		t.Must(err)
		if done[0].Err != nil {
			t.Fatal(done[0].Err)
		}
	}
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, op.Cluster)
	t.Must(err)
	if c.Status != app.ClusterActive {
		t.Fatalf("cluster %s is %s", name, c.Status)
	}
	return op.Cluster
}

func (t *storeTest) claimCheckBatch(worker string) *execution.ClaimedCheckBatch {
	t.Helper()
	r, err := t.Store.ClaimCheckBatch(t.Ctx, execution.CheckBatchQuery{Worker: app.WorkerID{Tenant: kit.Tenant, Name: worker}, Now: t.Clock.Now(),
		Within: func(int) time.Duration { return time.Minute }})
	t.Must(err)
	return r
}

// endRound ends a round with findings such as "n1 web".
func (t *storeTest) endRound(worker, cluster string, round int64, found ...string) error {
	o := execution.CheckBatchOutcome{CheckBatchReport: execution.CheckBatchReport{Cluster: cluster, Round: round},
		Tenant: kit.Tenant, Worker: worker, Now: t.Clock.Now(),
		Need: map[string]int{"web": 2}}
	for _, f := range found {
		node, what, _ := strings.Cut(f, " ")
		n := health.NodeFinding{Node: node}
		if what == "away" {
			n.Unreachable = "it does not answer"
		} else {
			n.Wrong = map[string]string{what: "no answer"}
		}
		o.Findings = append(o.Findings, n)
	}
	return t.Store.EndCheckBatch(t.Ctx, o)
}

// goRound makes a whole round of the one cluster that is due.
func (t *storeTest) goRound(cluster string, found ...string) health.ClusterHealth {
	t.Helper()
	t.Clock.Move(time.Minute)
	r := t.claimCheckBatch("w")
	if r == nil || r.Cluster.ID != cluster {
		t.Fatalf("round %+v, want one of %s", r, cluster)
	}
	t.Must(t.endRound("w", cluster, r.Round, found...))
	h, err := t.Store.ClusterHealth(t.Ctx, kit.Tenant, cluster)
	t.Must(err)
	return *h
}

func (t *storeTest) healthNotices() (titles []string) {
	t.Helper()
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 100)
	t.Must(err)
	for _, n := range all {
		if n.Kind == app.NoticeHealth {
			titles = append(titles, n.Title)
		}
	}
	return titles
}

// rounds: due in time, held by one worker, put off while something is in progress.
func (t *storeTest) healthRounds() {
	due := func() string {
		d, err := t.Store.HealthDue(t.Ctx, t.Clock.Now())
		t.Must(err)
		if d.Next.IsZero() {
			return "nothing"
		}
		return fmt.Sprint(d.Tenants, " ", d.Next.Sub(t.Clock.Now()))
	}
	t.looked("plain", nil)
	if got := due(); got != "nothing" {
		t.Errorf("where no one is managed: %s", got)
	}
	if h, err := t.Store.ClusterHealth(t.Ctx, kit.Tenant, "plain"); err != nil || h != nil {
		t.Errorf("health of a cluster that no one manages: %+v, %v", h, err)
	}
	id := t.looked("web", &template.HealthPolicy{Interval: time.Minute})
	if got := due(); got != "[] 1m0s" {
		t.Errorf("due: %s", got)
	}
	if r := t.claimCheckBatch("w1"); r != nil {
		t.Fatalf("a round before its time: %+v", r)
	}
	t.Clock.Move(time.Minute)
	if got := due(); got != "["+kit.Tenant+"] 0s" {
		t.Errorf("due: %s", got)
	}
	other, err := t.Store.ClaimCheckBatch(t.Ctx, execution.CheckBatchQuery{Worker: app.WorkerID{Tenant: "t2", Name: "x"}, Now: t.Clock.Now(),
		Within: func(int) time.Duration { return time.Minute }})
	t.Must(err)
	far, err := t.Store.ClaimCheckBatch(t.Ctx, execution.CheckBatchQuery{Worker: app.WorkerID{Tenant: kit.Tenant, Name: "x"},
		Except: []string{"p", "other", "cloud"},
		Now:    t.Clock.Now(),
		Within: func(int) time.Duration { return time.Minute }})
	t.Must(err)
	if other != nil || far != nil {
		t.Errorf("rounds for strangers: %+v, %+v", other, far)
	}
	r := t.claimCheckBatch("w1")
	if r == nil || r.Cluster.ID != id || len(r.Nodes) != 3 || len(r.Secrets.PrivateKey) == 0 || r.Definition.Health == nil {
		t.Fatalf("round: %+v", r)
	}
	if again := t.claimCheckBatch("w2"); again != nil {
		t.Error("two workers have the round")
	}
	t.Clock.Move(61 * time.Second) // w1 is lost
	next := t.claimCheckBatch("w2")
	if next == nil || next.Round <= r.Round {
		t.Fatalf("the round of a lost worker is not made again: %+v", next)
	}
	t.Code(t.endRound("w1", id, r.Round, "n1 web"), app.EStale)
	t.Code(t.endRound("w1", id, next.Round, "n1 web"), app.EStale)
	t.Must(t.endRound("w2", id, next.Round))
	t.Code(t.endRound("w2", id, next.Round, "n1 web"), app.EStale)
	h, err := t.Store.ClusterHealth(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if h.State != health.Healthy || h.Healthy != 3 || !h.CheckedAt.Equal(t.Clock.Now()) || len(h.Nodes) != 0 || h.Repair != template.RepairOff {
		t.Errorf("after a round: %+v", h)
	}
	if other, err := t.Store.ClusterHealth(t.Ctx, "t2", id); err != nil || other != nil {
		t.Errorf("another tenant's: %+v, %v", other, err)
	}

	who := app.Actor{Tenant: kit.Tenant, User: "ada"}
	t.Code(t.Store.CheckHealth(t.Ctx, execution.CheckRequest{Tenant: "t2", Cluster: id, Who: who, Now: t.Clock.Now()}), app.ENotFound)
	if got := due(); got != "[] 1m0s" {
		t.Errorf("due after another tenant asked for a check: %s", got)
	}
	t.Must(t.Store.CheckHealth(t.Ctx, execution.CheckRequest{Tenant: kit.Tenant, Cluster: id, Who: who, Now: t.Clock.Now()}))
	if got := due(); got != "["+kit.Tenant+"] 0s" {
		t.Errorf("due after a check was asked for: %s", got)
	}
	if entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.health_check",
		Limit: 10}); err != nil || len(entries) != 1 || entries[0].Object != id {
		t.Errorf("the audit tells %+v, %v", entries, err)
	}
	if r = t.claimCheckBatch("w1"); r == nil {
		t.Fatal("no round though a check was asked for")
	}
	t.Must(t.Store.CheckHealth(t.Ctx, execution.CheckRequest{Tenant: kit.Tenant, Cluster: id, Who: who, Now: t.Clock.Now()})) // the round in progress is that check
	t.Must(t.endRound("w1", id, r.Round))

	t.Submit(app.OperationDelete, id, apptest.Remove(3), true)
	t.Clock.Move(time.Minute)
	if r := t.claimCheckBatch("w1"); r != nil {
		t.Error("a cluster is looked at while it is being deleted")
	}
	if got := due(); got != "[] 1m0s" {
		t.Errorf("put off: %s", got)
	}
}

// what rounds find: states, with reasons, events and one notice each.
func (t *storeTest) healthFound() {
	id := t.looked("web", &template.HealthPolicy{Interval: time.Minute, Repair: template.RepairAuto, After: 2})
	nodes := func(h health.ClusterHealth) (s string) {
		for _, n := range h.Nodes {
			s += fmt.Sprintf(" %s %s %v", n.Node, n.State, n.Reasons)
		}
		return string(h.State) + s
	}
	repairs := func() string {
		list, err := t.Store.RepairsDue(t.Ctx, t.Clock.Now(), 10)
		t.Must(err)
		if len(list) == 0 {
			return ""
		}
		d := list[0]
		return fmt.Sprint(d.Cluster.ID == id, d.Nodes, len(d.Ill), d.TenantNodes, d.TenantIll, d.Repair, d.Repairing, d.Failures, d.Policy.After)
	}
	for i, step := range []struct {
		found []string
		want  string
		due   string
	}{
		{nil, "healthy", ""},
		{[]string{"n2 web"}, "healthy n2 healthy [web: no answer]", ""},
		{[]string{"n2 web"}, "unhealthy n2 unhealthy [web: no answer]", ""},
		{[]string{"n2 web", "n3 away"}, "unhealthy n2 unhealthy [web: no answer] n3 healthy [it does not answer]", "true 3 1 3 1 0 0 0 2"},
		{[]string{"n3 away"}, "healthy n3 healthy [it does not answer]", ""},
		{[]string{"n3 away"}, "unhealthy n3 unreachable [it does not answer]", ""},
		{nil, "healthy", ""},
	} {
		if got := nodes(t.goRound(id, step.found...)); got != step.want {
			t.Errorf("round %d: %s, want %s", i, got, step.want)
		}
		if got := repairs(); got != step.due {
			t.Errorf("round %d: repairs due: %q, want %q", i, got, step.due)
		}
	}
	if got := strings.Join(t.healthNotices(), " "); got != strings.TrimSpace(strings.Repeat("Cluster web is unhealthy. Cluster web is healthy again. ", 2)) {
		t.Errorf("notices: %s", got)
	}
	events, err := t.Store.Events(t.Ctx, kit.Tenant, id, 0, 1000)
	t.Must(err)
	var notified []string
	for _, e := range events {
		if e.Kind == app.EventHealth {
			notified = append(notified, e.Node+"="+e.Status)
		}
	}
	if got := strings.Join(notified, " "); got != "n2=unhealthy =unhealthy n2=healthy =healthy n3=unreachable =unhealthy n3=healthy =healthy" {
		t.Errorf("events: %s", got)
	}

	// A note is reported once, and a judged repair is kept.
	now := t.Clock.Now()
	note := execution.RepairNote{Tenant: kit.Tenant, Cluster: id, Now: now, NextAt: now.Add(time.Minute), Failures: 2, Note: "braked",
		Tell: &app.Notice{At: now, Tenant: kit.Tenant, Kind: app.NoticeHealth, Cluster: id, Title: "braked"}}
	t.Must(t.Store.NoteRepair(t.Ctx, note))
	t.Must(t.Store.NoteRepair(t.Ctx, note))
	if all := t.healthNotices(); len(all) != 5 || all[4] != "braked" {
		t.Errorf("notices: %q", all)
	}
	h, err := t.Store.ClusterHealth(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if h.Note != "braked" || h.Repair != template.RepairAuto {
		t.Errorf("noted: %+v", h)
	}
	t.Must(t.Store.NoteRepair(t.Ctx, execution.RepairNote{Tenant: kit.Tenant, Cluster: "gone", Now: now}))
}
