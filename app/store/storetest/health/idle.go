package health

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/idle"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// measure makes a round of a cluster, in which nodes are in use for reasons such as "n1: busy".
func (t *storeTest) measure(reasons ...string) {
	t.Helper()
	r := t.claimCheckBatch("w")
	if r == nil {
		t.Fatal("no round is due")
	}
	o := execution.CheckBatchOutcome{CheckBatchReport: execution.CheckBatchReport{Cluster: r.Cluster.ID, Round: r.Round, UseMeasured: r.Idle != nil},
		Tenant: kit.Tenant, Worker: "w", Now: t.Clock.Now()}
	for _, reason := range reasons {
		node, why, _ := strings.Cut(reason, ": ")
		o.InUse = append(o.InUse, idle.NodeFinding{Node: node, Reasons: []string{why}})
	}
	t.Must(t.Store.EndCheckBatch(t.Ctx, o))
}

func (t *storeTest) use(id string) idle.State {
	t.Helper()
	s, err := t.Store.IdleState(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if s == nil {
		return idle.State{}
	}
	return *s
}

// due returns the one cluster of which there is something to do; no id for none.
func (t *storeTest) due() idle.Due {
	t.Helper()
	list, err := t.Store.DueIdle(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(list) == 0 {
		return idle.Due{}
	}
	return list[0]
}

// moves writes a step twice, of which the second must find that the first was made.
func (t *storeTest) moves(d idle.Due, after idle.State) {
	t.Helper()
	m := idle.Move{Due: d, After: after, Now: t.Clock.Now()}
	for i := range 2 {
		moved, err := t.Store.MoveIdle(t.Ctx, m)
		t.Must(err)
		if moved != (i == 0) {
			t.Errorf("move %d: %t", i+1, moved)
		}
	}
}

// asleep submits the operation that puts an idle cluster to sleep.
func (t *storeTest) asleep(id string) error {
	_, err := t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Idle: &appcluster.IdleEnd{PerHour: 2}, Plan: apptest.Chain(1),
		Operation: app.Operation{Tenant: kit.Tenant, Cluster: id, Kind: app.OperationSleep, Requester: app.IdleUser, CreatedAt: t.Clock.Now()}})
	return err
}

func (t *storeTest) idleClusters() {
	p := &template.IdlePolicy{After: 10 * time.Minute, Grace: 5 * time.Minute, If: template.IdleConditions{NoSSH: true}}
	id := t.lookedFor("web", nil, p)
	if h, err := t.Store.ClusterHealth(t.Ctx, kit.Tenant, id); h != nil || err != nil {
		t.Errorf("it has no health checks, and its health is %+v, %v", h, err)
	}
	t.Clock.Move(time.Minute)
	t.measure("n2: busy")
	if s := t.use(id); len(s.Reasons) != 1 || s.Reasons[0] != "n2: busy" || !s.IdleSince.IsZero() {
		t.Errorf("in use: %+v", s)
	}
	for range 11 {
		t.Clock.Move(time.Minute)
		t.measure()
		if d := t.due(); d.Cluster.ID != "" && d.State.DueAt.After(t.Clock.Now()) {
			t.Errorf("due too early: %+v", d.State)
		}
	}
	d := t.due()
	if d.State.Next(t.Clock.Now(), d.Every, 3) != idle.StepWarn {
		t.Fatalf("not to be warned of: %+v", d.State)
	}
	t.moves(d, d.State.Warned(t.Clock.Now()))
	if err := t.asleep(id); app.AsError(err).Reason != idle.ReasonInUse {
		t.Errorf("it may sleep before the grace is over: %v", err)
	}
	// It's kept after the last look was asked for, or used: nothing happens.
	for _, used := range []func(){
		func() {
			t.Must(t.Store.ChangeIdle(t.Ctx, idle.Change{Tenant: kit.Tenant, Cluster: id, Who: app.Actor{Tenant: kit.Tenant, User: "ada"}, Now: t.Clock.Now(),
				Until: t.Clock.Now().Add(time.Minute)}))
		},
		func() { t.measure("n1: busy") },
		func() {},
	} {
		for range 30 {
			if d = t.due(); d.State.Next(t.Clock.Now(), d.Every, 3) == idle.StepConfirm {
				break
			}
			if d.State.Next(t.Clock.Now(), d.Every, 3) == idle.StepWarn {
				t.moves(d, d.State.Warned(t.Clock.Now()))
			}
			t.Clock.Move(time.Minute)
			t.measure()
		}
		t.moves(d, d.State.Confirming(t.Clock.Now()))
		if again := t.due(); again.Cluster.ID != "" {
			t.Errorf("due before the last look: %+v", again.State)
		}
		used()
		if t.use(id).ConfirmAt.IsZero() {
			if err := t.asleep(id); app.AsError(err).Reason != idle.ReasonInUse {
				t.Errorf("it may sleep though it was used: %v", err)
			}
			t.Clock.Move(time.Minute)
			t.measure()
			continue
		}
		t.measure() // due at once
		if d = t.due(); d.State.Next(t.Clock.Now(), d.Every, 3) != idle.StepAct {
			t.Fatalf("not to be acted on: %+v", d.State)
		}
		t.Must(t.asleep(id))
		if err := t.asleep(id); app.AsError(err).Reason != idle.ReasonInUse {
			t.Errorf("it sleeps twice: %v", err)
		}
		if s := t.use(id); !s.IdleSince.IsZero() || !s.DueAt.IsZero() {
			t.Errorf("with an operation: %+v", s)
		}
	}
}

func (t *storeTest) idleDefault() {
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleAdmin}
	t.Must(t.Store.CreateTenant(t.Ctx, app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin},
		identity.Tenant{Name: kit.Tenant, CreatedAt: t.Clock.Now(), CreatedBy: "root"}, nil))
	plain, off := t.looked("plain", nil), t.lookedFor("off", nil, &template.IdlePolicy{Then: template.IdleNothing})
	checked := t.looked("checked", &template.HealthPolicy{Interval: time.Hour})
	p := &template.IdlePolicy{After: time.Hour, If: template.IdleConditions{LoadBelow: 0.5}}
	t.Must(t.Store.SetDefaultIdlePolicy(t.Ctx, who, t.Clock.Now(), p))
	later := t.looked("later", nil)
	for id, follows := range map[string]bool{plain: true, checked: true, later: true, off: false} {
		if s := t.use(id); s.FromTenant != follows {
			t.Errorf("%s: %+v", id, s)
		}
	}
	t.Clock.Move(time.Minute)
	for range 2 { // those without health checks of their own
		if r := t.claimCheckBatch("w"); r == nil || !r.IdleOnly || r.Idle == nil || r.Idle.LoadBelow != 0.5 || r.Cluster.ID == off {
			t.Errorf("claimed %+v", r)
		}
	}
	if r := t.claimCheckBatch("w"); r != nil {
		t.Errorf("claimed %s", r.Cluster.ID)
	}
	if have, err := t.Store.DefaultIdlePolicy(t.Ctx, kit.Tenant); err != nil || have == nil || have.After != time.Hour {
		t.Errorf("%+v, %v", have, err)
	}
	t.Must(t.Store.SetDefaultIdlePolicy(t.Ctx, who, t.Clock.Now(), nil))
	t.Clock.Move(3 * time.Hour)
	if r := t.claimCheckBatch("w"); r == nil || r.Cluster.ID != checked || r.Idle != nil {
		t.Errorf("without the policy, claimed %+v", r)
	}
	if r := t.claimCheckBatch("w"); r != nil {
		t.Errorf("without the policy, claimed %s", r.Cluster.ID)
	}
}
