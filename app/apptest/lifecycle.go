package apptest

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/webhook"
)

// lifecycle makes a hook that has its turn at a time of operations.
func (t *storeTest) lifecycle(name string, when app.HookPhase, change ...func(*webhook.HookChange)) {
	t.Helper()
	t.hook(name, append([]func(*webhook.HookChange){func(c *webhook.HookChange) { c.When = when }}, change...)...)
}

// news claims what hooks are to be told, by hook and title.
func (t *storeTest) news(want ...string) map[string]app.DueDelivery {
	t.Helper()
	all := map[string]app.DueDelivery{}
	var got []string
	for _, d := range t.due("x") {
		if d.News == nil {
			t.Fatalf("delivery %d to %s tells nothing of an operation", d.ID, d.Hook)
		}
		got = append(got, d.Hook+": "+d.Title)
		all[d.Hook] = d
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("told is %q, want %q", got, want)
	}
	return all
}

func (t *storeTest) vetoed(d app.DueDelivery, why string) {
	t.Helper()
	t.must(t.s.EndDelivery(t.ctx, app.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: "x", Attempt: d.Attempts, At: t.clock.Now(), Status: 403,
		Err: &app.Error{Code: app.ECredentials, Message: "It answered 403 Forbidden."}, Veto: why}))
}

func (t *storeTest) settle(wantNext time.Time) {
	t.Helper()
	next, err := t.s.SettleHolds(t.ctx, t.clock.Now())
	t.must(err)
	if !next.Equal(wantNext) {
		t.Fatalf("holds are to be settled next at %s, want %s", next, wantNext)
	}
}

// hookHolds: an operation waits for the answers of all hooks before it without holding a worker, and goes on when they are there.
func (t *storeTest) hookHolds() {
	t.lifecycle("cmdb", app.HookBefore)
	t.lifecycle("slow", app.HookBefore, func(c *webhook.HookChange) {
		d, kinds := 10*time.Minute, []app.OperationKind{app.OperationCreate}
		c.Timeout, c.Operations = &d, &kinds
	})
	t.lifecycle("done", app.HookAfter)
	t.lifecycle("page", app.HookFailure)
	t.lifecycle("later", app.HookTemplate)
	t.tell(app.NoticeAlarm, "notices are not for them")
	op := t.create("web", 1)
	until := t.clock.Now().Add(10 * time.Minute)
	if op.Status != app.OperationWaiting || !op.HeldUntil.Equal(until) || !strings.Contains(op.Message, `"cmdb", "slow"`) {
		t.Fatalf("the create is %+v", op)
	}
	if t.claim("w") != nil {
		t.Fatal("a worker was given a step of an operation that waits for a hook")
	}
	due := t.news("cmdb: Before the create of web", "slow: Before the create of web")
	news := due["cmdb"].News
	if news.Cluster.ID != "web-1" || news.NodeCount != 1 || len(news.Nodes) != 1 || news.Plan.Actions["create"] != 1 || news.Operation.ID != op.ID ||
		news.When != app.HookBefore || news.OnTimeout != app.HookVeto || !due["cmdb"].Holds || !due["cmdb"].Deadline.Equal(t.clock.Now().Add(app.DefaultHookTimeout)) {
		t.Fatalf("the hook is told %+v", news)
	}
	t.must(t.ended("x", due["cmdb"], "", 0))
	if o := t.operation("web-1", op.ID); o.Status != app.OperationWaiting || strings.Contains(o.Message, "cmdb") || !strings.Contains(o.Message, "slow") {
		t.Fatalf("after one answer the create is %s: %s", o.Status, o.Message)
	}
	t.settle(until)
	t.must(t.ended("x", due["slow"], "", 0))
	t.settle(time.Time{})
	if o := t.operation("web-1", op.ID); o.Status != app.OperationRunning || o.Message != "" || !o.HeldUntil.IsZero() {
		t.Fatalf("after all answers the create is %+v", o)
	}
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	after := t.news("done: After the create of web")["done"]
	if after.Holds || after.News.Operation.Status != app.OperationSucceeded || after.News.Nodes[0].MachineID == "" {
		t.Fatalf("after it is told %+v", after.News)
	}
	t.must(t.ended("x", after, "", 0))
	// What was told of an operation is not a test, and not sent again.
	d, err := t.s.HookDelivery(t.ctx, tenant, "done", after.ID)
	t.must(err)
	if d.Kind != app.NoticeOperation || d.Operation != op.ID || d.State != app.DeliveryMade {
		t.Fatalf("the delivery is %+v", d)
	}
	_, err = t.s.Redeliver(t.ctx, hookAdmin, "done", after.ID, t.clock.Now())
	t.code(err, app.EConflict)
}

// hookVetoes: what a hook does not let happen has not happened, and what a cluster was made of is given back.
func (t *storeTest) hookVetoes() {
	t.lifecycle("cmdb", app.HookBefore)
	t.lifecycle("other", app.HookBefore)
	t.lifecycle("page", app.HookFailure)
	n := NewCluster(tenant, "web", 2, t.clock.Now(), Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	due := t.news("cmdb: Before the create of web", "other: Before the create of web")
	t.vetoed(due["cmdb"], "the rack is full")
	o := t.operation("web-1", op.ID)
	if o.Status != app.OperationCancelled || !strings.Contains(o.Message, `"cmdb"`) || !strings.Contains(o.Message, "the rack is full") || !o.StartedAt.IsZero() {
		t.Fatalf("after the veto the create is %+v", o)
	}
	c, err := t.s.Cluster(t.ctx, tenant, "web-1")
	t.must(err)
	if c.Status != app.ClusterDeleted || c.DeletedAt.IsZero() || !strings.Contains(c.Message, "the rack is full") {
		t.Fatalf("after the veto the cluster is %+v", c)
	}
	if ops, err := t.s.RollBacksDue(t.ctx, 10); err != nil || len(ops) > 0 {
		t.Fatalf("what never began is to be rolled back: %v (%v)", ops, err)
	}
	t.code(t.ended("x", due["other"], "", 0), app.EStale) // nobody waits for it any more
	t.settle(time.Time{})
	t.news("page: After the failure of the create of web")
	if t.claim("w") != nil {
		t.Fatal("a step of what was vetoed was handed out")
	}
	list, err := t.s.HookDeliveries(t.ctx, tenant, "cmdb", 0, 1)
	t.must(err)
	if !list[0].Vetoed || list[0].State != app.DeliveryMade || list[0].Status != 403 {
		t.Fatalf("the delivery is %+v", list[0])
	}
	if h, err := t.s.Hook(t.ctx, tenant, "cmdb"); err != nil || h.Failures != 0 {
		t.Fatalf("a no counts as a failure: %+v (%v)", h, err)
	}
	// The name is free again.
	n = NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster, n.Nodes[0].Intent = "web-2", "web-2", "web-2", "again"
	second, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.news("cmdb: Before the create of web", "other: Before the create of web")
	// A delete calls a create off that waits: nothing was made, so nothing is asked.
	off, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Remove(1), Cancel: true, Operation: app.Operation{Tenant: tenant, Cluster: "web-2",
		Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	if off.ID != second.ID || off.Status != app.OperationCancelled {
		t.Fatalf("the delete gave %+v", off)
	}
	if c, err := t.s.Cluster(t.ctx, tenant, "web-2"); err != nil || c.Status != app.ClusterDeleted {
		t.Fatalf("the cluster is %s (%v)", c.Status, err)
	}
	t.settle(time.Time{})
}

// hookSilence: a hook that does not answer in time holds up nothing for longer; what becomes of it then, it says itself.
func (t *storeTest) hookSilence() {
	t.lifecycle("strict", app.HookBefore, func(c *webhook.HookChange) { kinds := []app.OperationKind{app.OperationStart}; c.Operations = &kinds })
	t.lifecycle("lenient", app.HookBefore, func(c *webhook.HookChange) {
		kinds := []app.OperationKind{app.OperationStop}
		c.Operations, c.OnTimeout = &kinds, app.HookGoOn
	})
	t.create("web", 1)
	t.drain()
	plan := func(k app.OperationKind) app.Plan {
		return app.Plan{Kind: k, Steps: []app.PlanStep{{ID: "n1.a." + string(k), Node: "n1", Action: app.Action(k), Service: "a"}}}
	}
	start := t.submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	d := t.news("strict: Before the start of web")["strict"]
	t.must(t.ended("x", d, app.ETransient, time.Minute)) // it is asked again
	t.clock.Move(app.DefaultHookTimeout - time.Second)
	t.settle(start.HeldUntil)
	t.clock.Move(time.Second)
	t.settle(time.Time{})
	if o := t.operation("web-1", start.ID); o.Status != app.OperationCancelled || !strings.Contains(o.Message, "no answer in time") {
		t.Fatalf("without an answer the start is %+v", o)
	}
	t.status("web-1", app.ClusterActive, app.OperationCancelled)
	stop := t.submit(app.OperationStop, "web-1", plan(app.OperationStop), false)
	// The server was away for longer than the hook has time, and its clock was set back.
	t.clock.Move(-app.MaxHookTimeout - 2*time.Hour)
	t.settle(time.Time{})
	if o := t.operation("web-1", stop.ID); o.Status != app.OperationRunning {
		t.Fatalf("without an answer the stop is %+v", o)
	}
	t.drain()
	// An address that cannot be asked is no answer either, and found out at once.
	start = t.submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	for _, d := range t.due("x") {
		if d.Hook == "strict" {
			t.must(t.ended("x", d, app.EForbidden, 0))
		}
	}
	if o := t.operation("web-1", start.ID); o.Status != app.OperationCancelled || !strings.Contains(o.Message, "could not be asked") {
		t.Fatalf("the start is %+v", o)
	}
	// Who switches a hook off lets go on what waits for it.
	start = t.submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	off := false
	t.hook("strict", func(c *webhook.HookChange) { c.URL, c.Enabled = "", &off })
	if o := t.operation("web-1", start.ID); o.Status != app.OperationRunning {
		t.Fatalf("after the hook was switched off the start is %s", o.Status)
	}
	t.drain()
	on := true
	t.hook("strict", func(c *webhook.HookChange) { c.URL, c.Enabled = "", &on })
	start = t.submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	t.must(t.s.DeleteHook(t.ctx, hookAdmin, "strict", t.clock.Now()))
	if o := t.operation("web-1", start.ID); o.Status != app.OperationRunning {
		t.Fatalf("after the hook was deleted the start is %s", o.Status)
	}
}

// hookDeletes: hooks cannot keep machines for good.
func (t *storeTest) hookDeletes() {
	t.create("web", 1)
	running := t.claim("w") // the create is under way
	t.lifecycle("guard", app.HookBefore)
	for range app.DeleteVetoes {
		op := t.remove(1)
		if op.Status != app.OperationWaiting || op.HeldUntil.IsZero() {
			t.Fatalf("the delete is %+v", op)
		}
		t.vetoed(t.news("guard: Before the delete of web")["guard"], "there is data on it")
		if o := t.operation("web-1", op.ID); o.Status != app.OperationCancelled {
			t.Fatalf("after the veto the delete is %s", o.Status)
		}
	}
	// What it would have taken over from was left alone.
	next := t.finish(running, true)
	if next == nil {
		t.Fatal("a delete that was vetoed has stopped the create")
	}
	third := t.remove(1)
	t.news("guard: Before the delete of web") // it is told
	if third.HeldUntil.IsZero() == false {
		t.Fatalf("the third delete waits: %+v", third)
	}
	t.fail(next, app.Retry{Again: true})
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)

	// A lease that has ended asks nobody, and a time-out lets go on whatever the hook says.
	n := NewCluster(tenant, "db", 1, t.clock.Now(), Chain(1))
	n.Cluster.ExpiresAt = t.clock.Now().Add(time.Hour)
	t.must(t.s.DeleteHook(t.ctx, hookAdmin, "guard", t.clock.Now()))
	_, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.drain()
	t.lifecycle("guard", app.HookBefore)
	t.clock.Move(2 * time.Hour)
	ask := app.NewOperation{Plan: Remove(1), Cancel: true, Operation: app.Operation{Tenant: tenant, Cluster: "db-1", Kind: app.OperationDelete,
		Requester: "ada", CreatedAt: t.clock.Now()}}
	held, err := t.s.SubmitOperation(t.ctx, ask)
	t.must(err)
	t.clock.Move(app.DefaultHookTimeout)
	t.settle(time.Time{})
	if o := t.operation("db-1", held.ID); o.Status != app.OperationRunning {
		t.Fatalf("without an answer the delete is %s", o.Status)
	}
	t.control(held.ID, app.ControlCancel, "")
	ask.LeaseOver, ask.Operation.Requester, ask.Operation.CreatedAt = true, "lease", t.clock.Now()
	if op, err := t.s.SubmitOperation(t.ctx, ask); err != nil || op.Status != app.OperationRunning {
		t.Fatalf("the delete of a lease that has ended is %s (%v)", op.Status, err)
	}
}

// hookOfTemplate: a template names a hook of the tenant; where there is none, nothing is begun that would have to ask it.
func (t *storeTest) hookOfTemplate() {
	declared := []app.OperationHook{{Name: "first", When: app.HookBefore, SendTo: "cmdb", OnTimeout: app.HookGoOn, Timeout: time.Minute},
		{Name: "last", When: app.HookAfter, SendTo: "cmdb", Operations: []app.OperationKind{app.OperationCreate}}}
	ask := func(name string) (app.Operation, error) {
		n := NewCluster(tenant, name, 1, t.clock.Now(), Chain(1))
		n.Definition.Hooks = declared
		return t.s.CreateCluster(t.ctx, n)
	}
	_, err := ask("web")
	t.code(err, app.EConflict)
	t.lifecycle("cmdb", app.HookTemplate)
	op, err := ask("web")
	t.must(err)
	if want := t.clock.Now().Add(time.Minute); !op.HeldUntil.Equal(want) {
		t.Fatalf("the create waits until %s, want %s", op.HeldUntil, want)
	}
	d := t.news("cmdb: Before the create of web")["cmdb"]
	if d.News.Hook != "first" {
		t.Fatalf("it is told as %q", d.News.Hook)
	}
	t.must(t.ended("x", d, "", 0))
	t.drain()
	if d := t.news("cmdb: After the create of web")["cmdb"]; d.News.Hook != "last" || d.News.Took < 0 {
		t.Fatalf("it is told %+v", d.News)
	}
	// Nobody's missing hook keeps machines.
	t.must(t.s.DeleteHook(t.ctx, hookAdmin, "cmdb", t.clock.Now()))
	if op := t.remove(1); op.Status != app.OperationRunning {
		t.Fatalf("the delete is %s", op.Status)
	}
}

// hookScripts: the scripts of a plan are kept with its operation, as they were.
func (t *storeTest) hookScripts() {
	n := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	n.Operation.Plan.Hooks = []app.OperationHook{{Name: "warm", When: app.HookAfter, Script: "echo ${name}\n", Services: []string{"a"}}}
	op, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	got, err := t.s.OperationHooks(t.ctx, tenant, op.ID)
	t.must(err)
	if len(got) != 1 || got[0].Script != "echo ${name}\n" || got[0].Services[0] != "a" {
		t.Fatalf("kept is %+v", got)
	}
	_, err = t.s.OperationHooks(t.ctx, "t2", op.ID)
	t.code(err, app.ENotFound)
	for what, change := range map[string]func(*webhook.HookChange){
		"a script and an address":  func(c *webhook.HookChange) { c.When, c.Script = app.HookBefore, "true" },
		"a script after a failure": func(c *webhook.HookChange) { c.URL, c.Shown, c.When, c.Script = "", "", app.HookFailure, "true" },
		"chat's format":            func(c *webhook.HookChange) { c.When, c.Format = app.HookAfter, app.HookSlack },
		"Coopr's for notices":      func(c *webhook.HookChange) { c.Format = app.HookCoopr },
		"a choice without a time":  func(c *webhook.HookChange) { c.OnTimeout = app.HookGoOn },
	} {
		c := webhook.HookChange{Name: "wrong", URL: "https://hooks.example.com/", Shown: "https://hooks.example.com/", New: []byte(strings.Repeat("n", 32))}
		change(&c)
		if _, _, err := t.s.SaveHook(t.ctx, hookAdmin, c, t.clock.Now()); app.CodeOf(err) != app.EInvalid {
			t.Fatalf("%s was taken: %v", what, err)
		}
	}
	t.hook("run", func(c *webhook.HookChange) {
		d := time.Minute
		c.URL, c.Shown, c.When, c.Script, c.Timeout, c.Services = "", "", app.HookBefore, "true", &d, &[]string{"a"}
	})
	h, err := t.s.Hook(t.ctx, tenant, "run")
	t.must(err)
	if h.Script != "true" || h.Timeout != time.Minute || len(h.Services) != 1 || h.When != app.HookBefore || h.State != app.HookActive {
		t.Fatalf("the hook is %+v", h)
	}
}
