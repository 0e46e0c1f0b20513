package health

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/scaling"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// say makes a round of a cluster in which each of three nodes says a number.
func (t *storeTest) say(number float64) {
	t.Helper()
	r := t.claimCheckBatch("w")
	if r == nil || len(r.Numbers) != 1 || r.Numbers[0].Script != "wc -l" {
		t.Fatalf("no round is due that asks for numbers: %+v", r)
	}
	o := execution.CheckBatchOutcome{CheckBatchReport: execution.CheckBatchReport{Cluster: r.Cluster.ID, Round: r.Round, NumbersMeasured: true},
		Tenant: kit.Tenant, Worker: "w", Now: t.Clock.Now()}
	for _, n := range r.Nodes {
		o.Numbers = append(o.Numbers, scaling.NodeNumber{Node: n.Name, Name: "queue", Value: number})
	}
	t.Must(t.Store.EndCheckBatch(t.Ctx, o))
}

func (t *storeTest) dueScaling() (d scaling.Due, found bool) {
	t.Helper()
	list, err := t.Store.DueScaling(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(list) == 0 {
		return d, false
	}
	return list[0], true
}

// claimScaling claims what is due, twice, of which the second must find that the first was faster.
func (t *storeTest) claimScaling() scaling.Due {
	t.Helper()
	d, found := t.dueScaling()
	if !found {
		t.Fatal("nothing is due")
	}
	for i := range 2 {
		is, err := t.Store.ClaimScaling(t.Ctx, scaling.Claim{Due: d, Now: t.Clock.Now(), Until: t.Clock.Now().Add(time.Minute)})
		t.Must(err)
		if is != (i == 0) {
			t.Errorf("claim %d: %t", i+1, is)
		}
	}
	if _, found := t.dueScaling(); found {
		t.Error("it's due for others while it's claimed")
	}
	d.Version++
	return d
}

func (t *storeTest) moveScaling(m scaling.Move, want bool) {
	t.Helper()
	m.Now = t.Clock.Now()
	moved, err := t.Store.MoveScaling(t.Ctx, m)
	t.Must(err)
	if moved != want {
		t.Errorf("moved: %t", moved)
	}
}

func (t *storeTest) history(id string) []scaling.Entry {
	t.Helper()
	list, err := t.Store.ScalingHistory(t.Ctx, kit.Tenant, id, 1000)
	t.Must(err)
	return list
}

func (t *storeTest) scaling() {
	above := 10.0
	p := &template.ScalingPolicy{Min: 1, Max: 5, Metrics: []template.ScalingMetric{{Name: "queue", Script: "wc -l", Above: &above}}}
	id := t.lookedFor("web", nil, nil, p)
	d := t.claimScaling() // at once, for its schedule
	t.moveScaling(scaling.Move{Due: d, After: d.State}, true)
	if _, found := t.dueScaling(); found {
		t.Error("due before anything was measured")
	}
	t.Clock.Move(time.Minute)
	t.say(12)
	d = t.claimScaling()
	if d.Cluster.ID != id || d.Measured == nil || d.Measured.Nodes != 3 || d.Measured.Values["queue"] != (scaling.Value{Number: 12}) ||
		d.Latest.ID != 0 || d.Request != 0 {
		t.Errorf("due: %+v", d)
	}
	// What is measured meanwhile has it due again.
	t.Clock.Move(time.Minute)
	t.say(13)
	value := 12.0
	e := scaling.Entry{At: t.Clock.Now(), Rule: "queue", Value: &value, From: 3, To: 4, Outcome: scaling.CoolDown}
	t.moveScaling(scaling.Move{Due: d, After: scaling.State{Failures: 1}, Entries: []scaling.Entry{e, e}}, true)
	if list := t.history(id); len(list) != 1 || list[0].Until.IsZero() {
		t.Errorf("the same decision twice: %+v", list)
	}
	d = t.claimScaling()
	if d.State.Failures != 1 {
		t.Errorf("kept: %+v", d.State)
	}
	// A killed server's claim ends, and its operation is found.
	op, err := t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Plan: apptest.Chain(1),
		Operation: app.Operation{Tenant: kit.Tenant, Cluster: id, Kind: app.OperationResize, Requester: app.ScalingUser, CreatedAt: t.Clock.Now()}})
	t.Must(err)
	t.Clock.Move(2 * time.Minute)
	d = t.claimScaling()
	if d.Latest.ID != op.ID || d.Latest.Status.Ended() {
		t.Errorf("the latest operation: %+v", d.Latest)
	}
	// Someone sets other rules meanwhile: what was done is noted, and the state is left.
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser}
	own := &template.ScalingPolicy{Min: 2, Max: 9, Schedule: []template.ScalingTime{{At: "daily 08:00", Nodes: 3}}}
	t.Must(t.Store.SetScaling(t.Ctx, scaling.Change{Tenant: kit.Tenant, Cluster: id, Who: who, Now: t.Clock.Now(), Own: own}))
	e.Outcome = scaling.Started
	t.moveScaling(scaling.Move{Due: d, After: scaling.State{Failures: 9}, Entries: []scaling.Entry{e}}, false)
	if list := t.history(id); len(list) != 3 || list[0].Outcome != scaling.Started || list[1].Outcome != scaling.Changed {
		t.Errorf("history: %+v", list)
	}
	k, err := t.Store.Scaling(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if k.State.Failures != 0 || k.Rules.Effective().Max != 9 || k.ChangedBy != "ada" {
		t.Errorf("kept: %+v", k)
	}
	if k, err := t.Store.Scaling(t.Ctx, "elsewhere", id); k != nil || err != nil {
		t.Errorf("another tenant sees %+v, %v", k, err)
	}
	// Paused, and resumed once.
	d = t.claimScaling()
	t.moveScaling(scaling.Move{Due: d, After: scaling.State{PausedAt: t.Clock.Now(), Failures: 3}}, true)
	resume := scaling.Change{Tenant: kit.Tenant, Cluster: id, Who: who, Now: t.Clock.Now(), Resume: true}
	t.Must(t.Store.SetScaling(t.Ctx, resume))
	if err := t.Store.SetScaling(t.Ctx, resume); app.CodeOf(err) != app.EConflict {
		t.Errorf("resumed twice: %v", err)
	}
	// The history has a bound, and goes with its cluster.
	d = t.claimScaling()
	var many []scaling.Entry
	for i := range 300 {
		many = append(many, scaling.Entry{At: t.Clock.Now(), From: i, To: i + 1, Outcome: scaling.Bound})
	}
	t.moveScaling(scaling.Move{Due: d, After: d.State, Entries: many}, true)
	if list := t.history(id); len(list) != 200 || list[0].From != 299 {
		t.Errorf("%d entries are kept", len(list))
	}
	// Without rules, nothing is kept but what happened.
	plain := t.lookedFor("plain", nil, nil, nil)
	t.Must(t.Store.SetScaling(t.Ctx, scaling.Change{Tenant: kit.Tenant, Cluster: plain, Who: who, Now: t.Clock.Now(), Own: own}))
	t.Must(t.Store.SetScaling(t.Ctx, scaling.Change{Tenant: kit.Tenant, Cluster: plain, Who: who, Now: t.Clock.Now()}))
	if k, err := t.Store.Scaling(t.Ctx, kit.Tenant, plain); k != nil || err != nil || len(t.history(plain)) != 2 {
		t.Errorf("left: %+v, %v", k, err)
	}
}
