package apptest

import (
	"fmt"
	"math"
	"time"

	"muster/app"
	"muster/app/execution"
)

// paced is Chain with kinds for its steps: one for each action.
func paced(tenant string, nodes int) app.Plan {
	p := Chain(nodes)
	at := map[app.Action]int{}
	for i, s := range p.Steps {
		if s.Join {
			continue
		}
		if at[s.Action] == 0 {
			p.Paces = append(p.Paces, paceKey(tenant, s.Action))
			at[s.Action] = len(p.Paces)
		}
		p.Steps[i].Pace = at[s.Action]
	}
	p.Expects = app.Expectation{Typical: 90 * time.Second, Low: 60 * time.Second, High: 150 * time.Second, Guessed: 20 * time.Second, Runs: 7}
	return p
}

func paceKey(tenant string, a app.Action) app.PaceKey {
	k := app.PaceKey{Tenant: tenant, Action: a, Provider: "cloud", Type: "fake", Hardware: "small", Image: "host"}
	if !a.OnMachine() {
		k.Service, k.Version = "web", "v1"
	}
	return k
}

func (t *storeTest) known(k app.PaceKey) app.Pace {
	t.Helper()
	known, err := t.s.Paces(t.ctx, append(k.Widths(), app.PaceKey{Tenant: "nobody", Action: k.Action}))
	t.must(err)
	for other := range known {
		if other.Tenant == "nobody" {
			t.Errorf("%+v is known", other)
		}
	}
	return known[k]
}

// paces: what steps took is summed up by kind, for the tenant and for all, in the transaction of the report.
func (t *storeTest) paces() {
	c := NewCluster(tenant, "web", 2, t.clock.Now(), paced(tenant, 2))
	c.Operation.Operation.Expected = c.Operation.Plan.Expects.Typical
	op, err := t.s.CreateCluster(t.ctx, c)
	t.must(err)
	if op.Expects != c.Operation.Plan.Expects {
		t.Errorf("it is expected to take %+v", op.Expects)
	}
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	if ops[0].Expects != c.Operation.Plan.Expects {
		t.Errorf("read, it is expected to take %+v", ops[0].Expects)
	}
	want := func(k app.PaceKey, tally func(app.Pace) app.Tally, runs int64, took time.Duration) {
		t.Helper()
		for _, k := range k.Widths() {
			got := tally(t.known(k))
			if got.Runs != runs || runs > 0 && math.Abs(got.Typical().Seconds()-took.Seconds()) > 0.02*took.Seconds() {
				t.Errorf("of %+v %d runs are known that take %s, want %d and %s", k, got.Runs, got.Typical(), runs, took)
			}
		}
	}
	done := func(p app.Pace) app.Tally { return p.Done }
	again := func(p app.Pace) app.Tally { return p.Again }
	failed := func(p app.Pace) app.Tally { return p.Failed }
	create, confirm := paceKey(tenant, app.ActionCreate), paceKey(tenant, app.ActionConfirm)
	want(create, done, 0, 0)

	// One create goes well, the other fails, is tried for nothing, and then goes well. A clock that was set back says nothing.
	first, second := t.claim("w"), t.claim("w")
	t.clock.Move(20 * time.Second)
	t.finish(first, false)
	want(create, done, 1, 20*time.Second)
	confirmed := t.claim("w")
	t.clock.Move(-time.Hour)
	t.finish(confirmed, false)
	want(confirm, done, 0, 0)
	t.clock.Move(time.Hour + 20*time.Second)
	t.fail(second, app.Retry{Again: true})
	want(create, failed, 1, 40*time.Second)
	third := t.claim("w")
	t.clock.Move(3 * time.Second)
	t.fail(third, app.Retry{Again: true, Free: true})
	want(create, failed, 1, 40*time.Second)
	fourth := t.claim("w")
	t.clock.Move(5 * time.Second)
	t.finish(fourth, false)
	if fourth.Step.ID != second.Step.ID || fourth.Step.Attempt != 3 {
		t.Fatalf("%s was tried for the %d. time", fourth.Step.ID, fourth.Step.Attempt)
	}
	want(create, again, 1, 5*time.Second)
	want(create, done, 1, 20*time.Second)

	// Neither does a machine that stood ready, or a report of an attempt that is not any more.
	confirmed = t.claim("w")
	t.clock.Move(8 * time.Second)
	_, err = t.end("w", app.Finish{Fence: app.Fence{Operation: op.ID, Index: confirmed.Step.Index, Attempt: confirmed.Step.Attempt + 1}, Now: t.clock.Now()})
	t.code(err, app.EStale)
	want(confirm, done, 0, 0)
	_, err = t.end("w", app.Finish{Fence: fence(confirmed), Now: t.clock.Now(), Err: &app.Error{Code: app.EScript, Message: "it broke"},
		Retry: app.Retry{Again: true}, Pooled: true})
	t.must(err)
	if p := t.known(confirm); p != (app.Pace{}) {
		t.Errorf("a machine that stood ready counts: %+v", p)
	}
	confirmed = t.claim("w")
	t.clock.Move(9 * time.Second)
	t.finish(confirmed, false)
	want(confirm, again, 1, 9*time.Second)

	// Another tenant's count for all, and not for this one. Plans may name no kinds.
	other := NewCluster("t2", "web2", 1, t.clock.Now(), paced("t2", 1))
	_, err = t.s.CreateCluster(t.ctx, other)
	t.must(err)
	w := app.WorkerID{Tenant: "t2", Name: "w2"}
	report := func(c *app.ClaimedStep) {
		t.Helper()
		_, err := t.s.FinishSteps(t.ctx, w, []app.Finish{{Fence: fence(c), Now: t.clock.Now()}})
		t.must(err)
	}
	created := t.claimAs(w)
	t.clock.Move(80 * time.Second)
	report(created)
	if n := t.known(create).Done.Runs; n != 1 {
		t.Errorf("%d runs are the tenant's own", n)
	}
	all := create
	all.Tenant = ""
	if n := t.known(all).Done; n.Runs != 2 || n.Typical() < 30*time.Second || n.Typical() > 60*time.Second {
		t.Errorf("of all %d runs take %s", n.Runs, n.Typical())
	}

	// What was told to stop says nothing.
	long := t.claim("w")
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlCancel, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	t.clock.Move(time.Minute)
	t.fail(long, app.Retry{})
	if p := t.known(paceKey(tenant, app.ActionStart)); p != (app.Pace{}) {
		t.Errorf("a step that was told to stop counts: %+v", p)
	}

	// What was not seen for long is forgotten, all else is kept.
	n, err := t.s.DropPaces(t.ctx, t.clock.Now().Add(-24*time.Hour))
	t.must(err)
	if n != 0 || t.known(create).Done.Runs != 1 {
		t.Errorf("%d kinds are forgotten that were just seen", n)
	}
	n, err = t.s.DropPaces(t.ctx, t.clock.Now().Add(time.Second))
	t.must(err)
	if n == 0 || t.known(create) != (app.Pace{}) {
		t.Errorf("%d kinds are forgotten", n)
	}
	// Steps of kinds that were forgotten are reported all the same.
	report(t.claimAs(w))
	if left := t.claimAs(w); left == nil || left.Step.Action != app.ActionStart {
		t.Errorf("after that comes %+v", left)
	}
}

// pacesOfMany: more kinds than one statement takes, and each is found and made once.
func (t *storeTest) pacesOfMany() {
	p := app.Plan{Kind: app.OperationCreate}
	const nodes = 700
	for i := range nodes {
		n := app.NodeName(i + 1)
		k := paceKey(tenant, app.ActionCreate)
		k.Hardware = fmt.Sprint("size", i)
		p.Paces = append(p.Paces, k)
		p.Steps = append(p.Steps, app.PlanStep{ID: n + ".create", Node: n, Action: app.ActionCreate, Pace: i + 1})
	}
	for _, name := range []string{"one", "two"} {
		_, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, name, nodes, t.clock.Now(), p))
		t.must(err)
	}
	w := app.WorkerID{Tenant: tenant, Name: "w"}
	cs, err := t.s.ClaimSteps(t.ctx, app.ClaimQuery{Worker: w, Now: t.clock.Now(), For: execution.ClaimFor, Most: 2 * nodes})
	t.must(err)
	t.clock.Move(10 * time.Second)
	var fs []app.Finish
	for _, c := range cs {
		fs = append(fs, app.Finish{Fence: fence(c), Now: t.clock.Now()})
	}
	_, err = t.s.FinishSteps(t.ctx, w, fs)
	t.must(err)
	known, err := t.s.Paces(t.ctx, append([]app.PaceKey{{Action: app.ActionCreate, Type: "fake"}}, p.Paces...))
	t.must(err)
	if len(known) != nodes+1 || known[app.PaceKey{Action: app.ActionCreate, Type: "fake"}].Done.Runs != 2*nodes {
		t.Errorf("%d kinds are known, and of all %+v", len(known), known[app.PaceKey{Action: app.ActionCreate, Type: "fake"}])
	}
	for _, k := range p.Paces {
		if known[k].Done.Runs != 2 {
			t.Fatalf("of %+v %d runs are known, want 2", k, known[k].Done.Runs)
		}
	}
}
