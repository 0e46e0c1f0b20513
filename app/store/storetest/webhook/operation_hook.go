package webhook

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	appplan "muster/app/plan"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/webhook"
)

func (t *storeTest) settle(wantNext time.Time) {
	t.Helper()
	next, err := t.Store.SettleHolds(t.Ctx, t.Clock.Now())
	t.Must(err)
	if !next.Equal(wantNext) {
		t.Fatalf("holds are to be settled next at %s, want %s", next, wantNext)
	}
}

// hookHolds: an operation waits for the answers of all hooks before it without holding a worker, and continues when they are there.
func (t *storeTest) hookHolds() {
	t.OperationHook("cmdb", template.HookBefore)
	t.OperationHook("slow", template.HookBefore, func(c *webhook.EndpointChange) {
		d, kinds := 10*time.Minute, []app.OperationKind{app.OperationCreate}
		c.Timeout, c.Operations = &d, &kinds
	})
	t.OperationHook("done", template.HookAfter)
	t.OperationHook("page", template.HookFailure)
	t.OperationHook("later", template.HookTemplate)
	t.tell(app.NoticeAlarm, "notices are not for them")
	op := t.Create("web", 1)
	until := t.Clock.Now().Add(10 * time.Minute)
	if op.Status != app.OperationWaiting || !op.HeldUntil.Equal(until) || !strings.Contains(op.Message, `"cmdb", "slow"`) {
		t.Fatalf("creation is %+v", op)
	}
	if t.Claim("w") != nil {
		t.Fatal("a worker was given a step of an operation that waits for a hook")
	}
	due := t.News("cmdb: web: before creation", "slow: web: before creation")
	news := due["cmdb"].News
	if news.Cluster.ID != "web-1" || news.NodeCount != 1 || len(news.Nodes) != 1 || news.Plan.Actions["create"] != 1 || news.Operation.ID != op.ID ||
		news.When != template.HookBefore || news.OnTimeout != template.HookVeto || !due["cmdb"].Holds || !due["cmdb"].Deadline.Equal(t.Clock.Now().Add(template.DefaultHookTimeout)) {
		t.Fatalf("the hook is informed %+v", news)
	}
	t.Must(t.Ended("x", due["cmdb"], "", 0))
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationWaiting || strings.Contains(o.Message, "cmdb") || !strings.Contains(o.Message, "slow") {
		t.Fatalf("after one answer creation is %s: %s", o.Status, o.Message)
	}
	t.settle(until)
	t.Must(t.Ended("x", due["slow"], "", 0))
	t.settle(time.Time{})
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationRunning || o.Message != "" || !o.HeldUntil.IsZero() {
		t.Fatalf("after all answers creation is %+v", o)
	}
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	after := t.News("done: web: after creation")["done"]
	if after.Holds || after.News.Operation.Status != app.OperationSucceeded || after.News.Nodes[0].MachineID == "" {
		t.Fatalf("after it is reported %+v", after.News)
	}
	t.Must(t.Ended("x", after, "", 0))
	// What was reported of an operation is not a test, and not sent again.
	d, err := t.Store.HookDelivery(t.Ctx, kit.Tenant, "done", after.ID)
	t.Must(err)
	if d.Kind != app.NoticeOperation || d.Operation != op.ID || d.State != webhook.DeliveryMade {
		t.Fatalf("the delivery is %+v", d)
	}
	_, err = t.Store.Redeliver(t.Ctx, kit.HookAdmin, "done", after.ID, t.Clock.Now())
	t.Code(err, app.EConflict)
}

// hookVetoes: what a hook does not let happen has not happened, and what a cluster was made of is given back.
func (t *storeTest) hookVetoes() {
	t.OperationHook("cmdb", template.HookBefore)
	t.OperationHook("other", template.HookBefore)
	t.OperationHook("page", template.HookFailure)
	n := apptest.NewCluster(kit.Tenant, "web", 2, t.Clock.Now(), apptest.Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	due := t.News("cmdb: web: before creation", "other: web: before creation")
	t.Vetoed(due["cmdb"], "the rack is full")
	o := t.Operation("web-1", op.ID)
	if o.Status != app.OperationCancelled || !strings.Contains(o.Message, `"cmdb"`) || !strings.Contains(o.Message, "the rack is full") || !o.StartedAt.IsZero() {
		t.Fatalf("after the veto creation is %+v", o)
	}
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if c.Status != app.ClusterDeleted || c.DeletedAt.IsZero() || !strings.Contains(c.Message, "the rack is full") {
		t.Fatalf("after the veto the cluster is %+v", c)
	}
	if ops, err := t.Store.RollBacksDue(t.Ctx, 10); err != nil || len(ops) > 0 {
		t.Fatalf("what never began is to be rolled back: %v (%v)", ops, err)
	}
	t.Code(t.Ended("x", due["other"], "", 0), app.EStale) // no one waits for it any more
	t.settle(time.Time{})
	t.News("page: web: creation failed")
	if t.Claim("w") != nil {
		t.Fatal("a step of what was vetoed was handed out")
	}
	list, err := t.Store.HookDeliveries(t.Ctx, kit.Tenant, "cmdb", 0, 1)
	t.Must(err)
	if !list[0].Vetoed || list[0].State != webhook.DeliveryMade || list[0].Status != 403 {
		t.Fatalf("the delivery is %+v", list[0])
	}
	if h, err := t.Store.Hook(t.Ctx, kit.Tenant, "cmdb"); err != nil || h.Failures != 0 {
		t.Fatalf("a no counts as a failure: %+v (%v)", h, err)
	}
	// The name is free again.
	n = apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster, n.Nodes[0].Intent = "web-2", "web-2", "web-2", "again"
	second, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.News("cmdb: web: before creation", "other: web: before creation")
	// A delete calls a create off that waits: nothing was made, so nothing is asked.
	off, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(1), Cancel: true,
		Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-2",
			Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	if off.ID != second.ID || off.Status != app.OperationCancelled {
		t.Fatalf("deletion gave %+v", off)
	}
	if c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-2"); err != nil || c.Status != app.ClusterDeleted {
		t.Fatalf("the cluster is %s (%v)", c.Status, err)
	}
	t.settle(time.Time{})
}

// hookSilence: a hook that does not answer in time holds up nothing for longer; what happens to it then, it says itself.
func (t *storeTest) hookSilence() {
	t.OperationHook("strict", template.HookBefore, func(c *webhook.EndpointChange) {
		kinds := []app.OperationKind{app.OperationStart}
		c.Operations = &kinds
	})
	t.OperationHook("lenient", template.HookBefore, func(c *webhook.EndpointChange) {
		kinds := []app.OperationKind{app.OperationStop}
		c.Operations, c.OnTimeout = &kinds, template.HookContinue
	})
	t.Create("web", 1)
	t.Drain()
	plan := func(k app.OperationKind) appplan.Plan {
		return appplan.Plan{Kind: k, Steps: []appplan.Step{{ID: "n1.a." + string(k), Node: "n1", Action: app.Action(k), Service: "a"}}}
	}
	start := t.Submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	d := t.News("strict: web: before starting services")["strict"]
	t.Must(t.Ended("x", d, app.ETransient, time.Minute)) // it is asked again
	t.Clock.Move(template.DefaultHookTimeout - time.Second)
	t.settle(start.HeldUntil)
	t.Clock.Move(time.Second)
	t.settle(time.Time{})
	if o := t.Operation("web-1", start.ID); o.Status != app.OperationCancelled || !strings.Contains(o.Message, "didn't respond in time") {
		t.Fatalf("without an answer the start is %+v", o)
	}
	t.Status("web-1", app.ClusterActive, app.OperationCancelled)
	stop := t.Submit(app.OperationStop, "web-1", plan(app.OperationStop), false)
	// The server was away for longer than the hook has time, and its clock was set back.
	t.Clock.Move(-template.MaxHookTimeout - 2*time.Hour)
	t.settle(time.Time{})
	if o := t.Operation("web-1", stop.ID); o.Status != app.OperationRunning {
		t.Fatalf("without an answer the stop is %+v", o)
	}
	t.Drain()
	// An address that cannot be asked is no answer either, and found out at once.
	start = t.Submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	for _, d := range t.Due("x") {
		if d.Hook == "strict" {
			t.Must(t.Ended("x", d, app.EForbidden, 0))
		}
	}
	if o := t.Operation("web-1", start.ID); o.Status != app.OperationCancelled || !strings.Contains(o.Message, "the call failed") {
		t.Fatalf("the start is %+v", o)
	}
	// Who switches a hook off lets continue what waits for it.
	start = t.Submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	off := false
	t.Hook("strict", func(c *webhook.EndpointChange) { c.URL, c.Enabled = "", &off })
	if o := t.Operation("web-1", start.ID); o.Status != app.OperationRunning {
		t.Fatalf("after the hook was switched off the start is %s", o.Status)
	}
	t.Drain()
	on := true
	t.Hook("strict", func(c *webhook.EndpointChange) { c.URL, c.Enabled = "", &on })
	start = t.Submit(app.OperationStart, "web-1", plan(app.OperationStart), false)
	t.Must(t.Store.DeleteHook(t.Ctx, kit.HookAdmin, "strict", t.Clock.Now()))
	if o := t.Operation("web-1", start.ID); o.Status != app.OperationRunning {
		t.Fatalf("after the hook was deleted the start is %s", o.Status)
	}
}

// hookDeletes: hooks cannot keep machines for good.
func (t *storeTest) hookDeletes() {
	t.Create("web", 1)
	running := t.Claim("w") // the create is in progress
	t.OperationHook("guard", template.HookBefore)
	for range template.DeleteVetoes {
		op := t.Remove(1)
		if op.Status != app.OperationWaiting || op.HeldUntil.IsZero() {
			t.Fatalf("deletion is %+v", op)
		}
		t.Vetoed(t.News("guard: web: before deletion")["guard"], "there is data on it")
		if o := t.Operation("web-1", op.ID); o.Status != app.OperationCancelled {
			t.Fatalf("after the veto deletion is %s", o.Status)
		}
	}
	// What it would have taken over from was left alone.
	next := t.Finish(running, true)
	if next == nil {
		t.Fatal("a deletion that was vetoed has stopped creation")
	}
	third := t.Remove(1)
	t.News("guard: web: before deletion") // it is reported
	if !third.HeldUntil.IsZero() {
		t.Fatalf("the third delete waits: %+v", third)
	}
	t.FailStep(next, app.Retry{Again: true})
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)

	// A lease that has ended asks no one, and a time-out lets continue whatever the hook says.
	n := apptest.NewCluster(kit.Tenant, "db", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = t.Clock.Now().Add(time.Hour)
	t.Must(t.Store.DeleteHook(t.Ctx, kit.HookAdmin, "guard", t.Clock.Now()))
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Drain()
	t.OperationHook("guard", template.HookBefore)
	t.Clock.Move(2 * time.Hour)
	ask := cluster.NewOperation{Plan: apptest.Remove(1), Cancel: true, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "db-1", Kind: app.OperationDelete,
		Requester: "ada", CreatedAt: t.Clock.Now()}}
	held, err := t.Store.SubmitOperation(t.Ctx, ask)
	t.Must(err)
	t.Clock.Move(template.DefaultHookTimeout)
	t.settle(time.Time{})
	if o := t.Operation("db-1", held.ID); o.Status != app.OperationRunning {
		t.Fatalf("without an answer deletion is %s", o.Status)
	}
	t.Control(held.ID, app.ControlCancel, "")
	ask.LeaseOver, ask.Operation.Requester, ask.Operation.CreatedAt = true, "lease", t.Clock.Now()
	if op, err := t.Store.SubmitOperation(t.Ctx, ask); err != nil || op.Status != app.OperationRunning {
		t.Fatalf("deletion of a lease that has ended is %s (%v)", op.Status, err)
	}
}

// hookOfTemplate: a template names a hook of the tenant; where there is none, nothing is begun that would have to ask it.
func (t *storeTest) hookOfTemplate() {
	declared := []template.OperationHook{{Name: "first", When: template.HookBefore, SendTo: "cmdb", OnTimeout: template.HookContinue, Timeout: time.Minute},
		{Name: "last", When: template.HookAfter, SendTo: "cmdb", Operations: []app.OperationKind{app.OperationCreate}}}
	ask := func(name string) (app.Operation, error) {
		n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
		n.Definition.Hooks = declared
		return t.Store.CreateCluster(t.Ctx, n)
	}
	_, err := ask("web")
	t.Code(err, app.EConflict)
	t.OperationHook("cmdb", template.HookTemplate)
	op, err := ask("web")
	t.Must(err)
	if want := t.Clock.Now().Add(time.Minute); !op.HeldUntil.Equal(want) {
		t.Fatalf("creation waits until %s, want %s", op.HeldUntil, want)
	}
	d := t.News("cmdb: web: before creation")["cmdb"]
	if d.News.Hook != "first" {
		t.Fatalf("it is reported as %q", d.News.Hook)
	}
	t.Must(t.Ended("x", d, "", 0))
	t.Drain()
	if d := t.News("cmdb: web: after creation")["cmdb"]; d.News.Hook != "last" || d.News.Duration < 0 {
		t.Fatalf("it is reported %+v", d.News)
	}
	// No one's missing hook keeps machines.
	t.Must(t.Store.DeleteHook(t.Ctx, kit.HookAdmin, "cmdb", t.Clock.Now()))
	if op := t.Remove(1); op.Status != app.OperationRunning {
		t.Fatalf("deletion is %s", op.Status)
	}
}

// hookScripts: the scripts of a plan are kept with its operation, as they were.
func (t *storeTest) hookScripts() {
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Operation.Plan.Hooks = []template.OperationHook{{Name: "warm", When: template.HookAfter, Script: "echo ${name}\n", Services: []string{"a"}}}
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	got, err := t.Store.OperationHooks(t.Ctx, kit.Tenant, op.ID)
	t.Must(err)
	if len(got) != 1 || got[0].Script != "echo ${name}\n" || got[0].Services[0] != "a" {
		t.Fatalf("kept is %+v", got)
	}
	_, err = t.Store.OperationHooks(t.Ctx, "t2", op.ID)
	t.Code(err, app.ENotFound)
	for what, change := range map[string]func(*webhook.EndpointChange){
		"a script and an address": func(c *webhook.EndpointChange) { c.When, c.Script = template.HookBefore, "true" },
		"a script after a failure": func(c *webhook.EndpointChange) {
			c.URL, c.Shown, c.When, c.Script = "", "", template.HookFailure, "true"
		},
		"chat's format":           func(c *webhook.EndpointChange) { c.When, c.Format = template.HookAfter, webhook.HookSlack },
		"Coopr's for notices":     func(c *webhook.EndpointChange) { c.Format = webhook.HookCoopr },
		"a choice without a time": func(c *webhook.EndpointChange) { c.OnTimeout = template.HookContinue },
	} {
		c := webhook.EndpointChange{Name: "wrong", URL: "https://hooks.example.com/", Shown: "https://hooks.example.com/", New: []byte(strings.Repeat("n", 32))}
		change(&c)
		if _, _, err := t.Store.SaveHook(t.Ctx, kit.HookAdmin, c, t.Clock.Now()); app.CodeOf(err) != app.EInvalid {
			t.Fatalf("%s was taken: %v", what, err)
		}
	}
	t.Hook("run", func(c *webhook.EndpointChange) {
		d := time.Minute
		c.URL, c.Shown, c.When, c.Script, c.Timeout, c.Services = "", "", template.HookBefore, "true", &d, &[]string{"a"}
	})
	h, err := t.Store.Hook(t.Ctx, kit.Tenant, "run")
	t.Must(err)
	if h.Script != "true" || h.Timeout != time.Minute || len(h.Services) != 1 || h.When != template.HookBefore || h.State != webhook.HookActive {
		t.Fatalf("the hook is %+v", h)
	}
}
