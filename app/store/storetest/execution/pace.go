package execution

import (
	"fmt"
	"math"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/store/storetest/kit"
)

// withDurations is Chain with kinds for its steps: one for each action.
func withDurations(tenant string, nodes int) plan.Plan {
	p := apptest.Chain(nodes)
	at := map[app.Action]int{}
	for i, s := range p.Steps {
		if s.Join {
			continue
		}
		if at[s.Action] == 0 {
			p.DurationKeys = append(p.DurationKeys, paceKey(tenant, s.Action))
			at[s.Action] = len(p.DurationKeys)
		}
		p.Steps[i].DurationKey = at[s.Action]
	}
	p.Expects = app.Expectation{Typical: 90 * time.Second, Low: 60 * time.Second, High: 150 * time.Second, Estimated: 20 * time.Second, Runs: 7}
	return p
}

func paceKey(tenant string, a app.Action) plan.DurationKey {
	k := plan.DurationKey{Tenant: tenant, Action: a, Provider: "cloud", Type: "fake", Hardware: "small", Image: "host"}
	if !a.OnMachine() {
		k.Service, k.Version = "web", "v1"
	}
	return k
}

func (t *storeTest) known(k plan.DurationKey) plan.DurationStats {
	t.Helper()
	known, err := t.Store.DurationStats(t.Ctx, append(k.Widths(), plan.DurationKey{Tenant: "unknown", Action: k.Action}))
	t.Must(err)
	for other := range known {
		if other.Tenant == "unknown" {
			t.Errorf("%+v is known", other)
		}
	}
	return known[k]
}

// durations: what steps took is summed up by kind, for the tenant and for all, in the transaction of the report.
func (t *storeTest) paces() {
	c := apptest.NewCluster(kit.Tenant, "web", 2, t.Clock.Now(), withDurations(kit.Tenant, 2))
	c.Operation.Operation.Expected = c.Operation.Plan.Expects.Typical
	op, err := t.Store.CreateCluster(t.Ctx, c)
	t.Must(err)
	if op.Expects != c.Operation.Plan.Expects {
		t.Errorf("it is expected to take %+v", op.Expects)
	}
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if ops[0].Expects != c.Operation.Plan.Expects {
		t.Errorf("read, it is expected to take %+v", ops[0].Expects)
	}
	want := func(k plan.DurationKey, tally func(plan.DurationStats) plan.Tally, runs int64, took time.Duration) {
		t.Helper()
		for _, k := range k.Widths() {
			got := tally(t.known(k))
			if got.Runs != runs || runs > 0 && math.Abs(got.Typical().Seconds()-took.Seconds()) > 0.02*took.Seconds() {
				t.Errorf("of %+v %d runs are known that take %s, want %d and %s", k, got.Runs, got.Typical(), runs, took)
			}
		}
	}
	done := func(p plan.DurationStats) plan.Tally { return p.Done }
	again := func(p plan.DurationStats) plan.Tally { return p.Again }
	failed := func(p plan.DurationStats) plan.Tally { return p.Failed }
	create, confirm := paceKey(kit.Tenant, app.ActionCreate), paceKey(kit.Tenant, app.ActionConfirm)
	want(create, done, 0, 0)

	// One create goes well, the other fails, is tried for nothing, and then goes well. A clock that was set back says nothing.
	first, second := t.Claim("w"), t.Claim("w")
	t.Clock.Move(20 * time.Second)
	t.Finish(first, false)
	want(create, done, 1, 20*time.Second)
	confirmed := t.Claim("w")
	t.Clock.Move(-time.Hour)
	t.Finish(confirmed, false)
	want(confirm, done, 0, 0)
	t.Clock.Move(time.Hour + 20*time.Second)
	t.FailStep(second, app.Retry{Again: true})
	want(create, failed, 1, 40*time.Second)
	third := t.Claim("w")
	t.Clock.Move(3 * time.Second)
	t.FailStep(third, app.Retry{Again: true, Free: true})
	want(create, failed, 1, 40*time.Second)
	fourth := t.Claim("w")
	t.Clock.Move(5 * time.Second)
	t.Finish(fourth, false)
	if fourth.Step.ID != second.Step.ID || fourth.Step.Attempt != 3 {
		t.Fatalf("%s was tried for the %d. time", fourth.Step.ID, fourth.Step.Attempt)
	}
	want(create, again, 1, 5*time.Second)
	want(create, done, 1, 20*time.Second)

	// Neither does a machine that was ready, or a report of an attempt that is not any more.
	confirmed = t.Claim("w")
	t.Clock.Move(8 * time.Second)
	_, err = t.End("w", execution.Finish{Fence: app.Fence{Operation: op.ID, Index: confirmed.Step.Index, Attempt: confirmed.Step.Attempt + 1}, Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	want(confirm, done, 0, 0)
	_, err = t.End("w", execution.Finish{Fence: kit.Fence(confirmed), Now: t.Clock.Now(), Err: &app.Error{Code: app.EScript, Message: "it broke"},
		Retry: app.Retry{Again: true}, Pooled: true})
	t.Must(err)
	if p := t.known(confirm); p != (plan.DurationStats{}) {
		t.Errorf("a machine that was ready counts: %+v", p)
	}
	confirmed = t.Claim("w")
	t.Clock.Move(9 * time.Second)
	t.Finish(confirmed, false)
	want(confirm, again, 1, 9*time.Second)

	// Another tenant's count for all, and not for this one. Plans may name no kinds.
	other := apptest.NewCluster("t2", "web2", 1, t.Clock.Now(), withDurations("t2", 1))
	_, err = t.Store.CreateCluster(t.Ctx, other)
	t.Must(err)
	w := app.WorkerID{Tenant: "t2", Name: "w2"}
	report := func(c *execution.ClaimedStep) {
		t.Helper()
		_, err := t.Store.FinishSteps(t.Ctx, w, []execution.Finish{{Fence: kit.Fence(c), Now: t.Clock.Now()}})
		t.Must(err)
	}
	created := t.ClaimAs(w)
	t.Clock.Move(80 * time.Second)
	report(created)
	if n := t.known(create).Done.Runs; n != 1 {
		t.Errorf("%d runs are the tenant's own", n)
	}
	all := create
	all.Tenant = ""
	if n := t.known(all).Done; n.Runs != 2 || n.Typical() < 30*time.Second || n.Typical() > 60*time.Second {
		t.Errorf("of all %d runs take %s", n.Runs, n.Typical())
	}

	// What was asked to stop says nothing.
	long := t.Claim("w")
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlCancel, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	t.Clock.Move(time.Minute)
	t.FailStep(long, app.Retry{})
	if p := t.known(paceKey(kit.Tenant, app.ActionStart)); p != (plan.DurationStats{}) {
		t.Errorf("a step that was asked to stop counts: %+v", p)
	}

	// What was not seen for long is forgotten, all else is kept.
	n, err := t.Store.DropDurationStats(t.Ctx, t.Clock.Now().Add(-24*time.Hour))
	t.Must(err)
	if n != 0 || t.known(create).Done.Runs != 1 {
		t.Errorf("%d kinds are forgotten that were just seen", n)
	}
	n, err = t.Store.DropDurationStats(t.Ctx, t.Clock.Now().Add(time.Second))
	t.Must(err)
	if n == 0 || t.known(create) != (plan.DurationStats{}) {
		t.Errorf("%d kinds are forgotten", n)
	}
	// Steps of kinds that were forgotten are reported all the same.
	report(t.ClaimAs(w))
	if left := t.ClaimAs(w); left == nil || left.Step.Action != app.ActionStart {
		t.Errorf("after that comes %+v", left)
	}
}

// pacesOfMany: more kinds than one statement takes, and each is found and made once.
func (t *storeTest) pacesOfMany() {
	p := plan.Plan{Kind: app.OperationCreate}
	const nodes = 700
	for i := range nodes {
		n := app.NodeName(i + 1)
		k := paceKey(kit.Tenant, app.ActionCreate)
		k.Hardware = fmt.Sprint("size", i)
		p.DurationKeys = append(p.DurationKeys, k)
		p.Steps = append(p.Steps, plan.Step{ID: n + ".create", Node: n, Action: app.ActionCreate, DurationKey: i + 1})
	}
	for _, name := range []string{"one", "two"} {
		_, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(kit.Tenant, name, nodes, t.Clock.Now(), p))
		t.Must(err)
	}
	w := app.WorkerID{Tenant: kit.Tenant, Name: "w"}
	cs, err := t.Store.ClaimSteps(t.Ctx, execution.ClaimQuery{Worker: w, Now: t.Clock.Now(), For: execution.ClaimFor, Most: 2 * nodes})
	t.Must(err)
	t.Clock.Move(10 * time.Second)
	var fs []execution.Finish
	for _, c := range cs {
		fs = append(fs, execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now()})
	}
	_, err = t.Store.FinishSteps(t.Ctx, w, fs)
	t.Must(err)
	known, err := t.Store.DurationStats(t.Ctx, append([]plan.DurationKey{{Action: app.ActionCreate, Type: "fake"}}, p.DurationKeys...))
	t.Must(err)
	if len(known) != nodes+1 || known[plan.DurationKey{Action: app.ActionCreate, Type: "fake"}].Done.Runs != 2*nodes {
		t.Errorf("%d kinds are known, and of all %+v", len(known), known[plan.DurationKey{Action: app.ActionCreate, Type: "fake"}])
	}
	for _, k := range p.DurationKeys {
		if known[k].Done.Runs != 2 {
			t.Fatalf("of %+v %d runs are known, want 2", k, known[k].Done.Runs)
		}
	}
}
