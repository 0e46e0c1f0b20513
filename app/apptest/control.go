package apptest

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
)

// control carries out an act as ada, and fails the test where it is not taken.
func (t *storeTest) control(op int64, act app.ControlAct, node string) app.Operation {
	t.Helper()
	o, err := t.tryControl(op, act, node)
	t.must(err)
	return o
}

func (t *storeTest) tryControl(op int64, act app.ControlAct, node string) (app.Operation, error) {
	return t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op, Act: act, Node: node, Who: "ada", Why: "to look at it", Now: t.clock.Now()})
}

func (t *storeTest) submit(kind app.OperationKind, cluster string, p app.Plan, cancel bool) app.Operation {
	t.Helper()
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: p, Cancel: cancel, Operation: app.Operation{Tenant: tenant, Cluster: cluster, Kind: kind,
		Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	return op
}

func (t *storeTest) operation(cluster string, id int64) app.Operation {
	t.Helper()
	ops, err := t.s.Operations(t.ctx, tenant, cluster)
	t.must(err)
	for _, o := range ops {
		if o.ID == id {
			return o
		}
	}
	t.Fatalf("cluster %s has no operation %d", cluster, id)
	return app.Operation{}
}

func (t *storeTest) states(op int64) string {
	t.Helper()
	steps, err := t.s.Steps(t.ctx, tenant, op)
	t.must(err)
	var all []string
	for _, s := range steps {
		all = append(all, s.ID+" "+string(s.State))
	}
	return strings.Join(all, ", ")
}

func (t *storeTest) cancel() {
	op := t.create("web", 3)
	running, silent := t.claim("w1"), t.claim("w2")
	if o := t.control(op.ID, app.ControlCancel, ""); o.Status != app.OperationCancelling || !strings.Contains(o.Message, "ada") || !strings.Contains(o.Message, "to look at it") {
		t.Fatalf("cancelled while two steps run, the operation is %s (%s), want cancelling, by whom and why", o.Status, o.Message)
	}
	if c := t.claim("w3"); c != nil {
		t.Fatalf("%s was handed out of a cancelled operation", c.Step.ID)
	}
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(bells) != 0 {
		t.Errorf("bells %+v are rung for a cancelled operation", bells)
	}
	_, err = t.tryControl(op.ID, app.ControlCancel, "")
	t.code(err, app.EConflict)
	_, err = t.tryControl(op.ID, app.ControlPause, "")
	t.code(err, app.EConflict)
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w1"}, []app.Fence{fence(running)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if !d[0].Cancel || d[0].Lost {
		t.Fatalf("the running step is told %+v, want to stop", d[0])
	}
	// One was done all the same; its successors do not begin. The other worker never answers.
	if next := t.finish(running, true); next != nil {
		t.Fatalf("%s was begun after the cancel", next.Step.ID)
	}
	t.status("web-1", app.ClusterPending, app.OperationCancelling)
	t.clock.Move(execution.ClaimFor + time.Second)
	_, err = t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	t.status("web-1", app.ClusterFailed, app.OperationCancelled)
	_, err = t.end("w2", app.Finish{Fence: fence(silent), Now: t.clock.Now()})
	t.code(err, app.EStale)
	if s := t.states(op.ID); strings.Count(s, "dropped") != 11 || strings.Count(s, "succeeded") != 1 {
		t.Errorf("steps are %s, want one succeeded and all others dropped", s)
	}
	_, err = t.tryControl(op.ID, app.ControlResume, "")
	t.code(err, app.EConflict)
	t.remove(3)
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) cancelWaiting() {
	first := t.create("web", 1)
	waits := t.submit(app.OperationCreate, "web-1", Chain(1), false)
	if waits.Status != app.OperationWaiting {
		t.Fatalf("behind another one, the operation is %s", waits.Status)
	}
	if o := t.control(waits.ID, app.ControlCancel, ""); o.Status != app.OperationCancelled {
		t.Errorf("an operation that waits is %s after a cancel, want cancelled at once", o.Status)
	}
	if c, err := t.s.Cluster(t.ctx, tenant, "web-1"); err != nil || c.Status != app.ClusterPending {
		t.Errorf("the cluster is %s (%v), although its first operation goes on", c.Status, err)
	}
	t.fail(t.claim("w"), app.Retry{})
	// What never began does not keep the other one from being resumed.
	t.control(first.ID, app.ControlResume, "")
	t.drain()
	if o := t.operation("web-1", first.ID); o.Status != app.OperationSucceeded {
		t.Errorf("the first operation is %s", o.Status)
	}
}

func (t *storeTest) pause() {
	op := t.create("web", 2)
	running := t.claim("w")
	if o := t.control(op.ID, app.ControlPause, ""); o.Status != app.OperationPaused {
		t.Fatalf("paused, it is %s", o.Status)
	}
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out of a paused operation", c.Step.ID)
	}
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w"}, []app.Fence{fence(running)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if d[0].Cancel || d[0].Lost {
		t.Errorf("a running step of a paused operation is told %+v, want to go on", d[0])
	}
	if next := t.finish(running, true); next != nil {
		t.Fatalf("%s was begun in a paused operation", next.Step.ID)
	}
	t.clock.Move(time.Hour)
	_, err = t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(bells) != 0 {
		t.Errorf("%d bells are rung for a paused operation", len(bells))
	}
	t.status("web-1", app.ClusterPending, app.OperationPaused)
	_, err = t.tryControl(op.ID, app.ControlPause, "")
	t.code(err, app.EConflict)
	waits := t.submit(app.OperationCreate, "web-1", Chain(1), false)
	if o := t.control(op.ID, app.ControlResume, ""); o.Status != app.OperationRunning || o.Message != "" {
		t.Errorf("resumed, it is %s (%s)", o.Status, o.Message)
	}
	bells, err = t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(bells) != 2 {
		t.Errorf("%d bells are rung after the resume, want one for each node", len(bells))
	}
	t.drain()
	if o := t.operation("web-1", op.ID); o.Status != app.OperationSucceeded {
		t.Errorf("resumed, it ended as %s", o.Status)
	}
	if o := t.operation("web-1", waits.ID); o.Status != app.OperationSucceeded {
		t.Errorf("the one behind it is %s", o.Status)
	}
}

// backOffByAWrongClock: a wait that was worked out while the clock was ahead is over once the clock is right. One from before it was wrong is, too:
// nothing tells the two apart, and one try too early does no harm.
func (t *storeTest) backOffByAWrongClock() {
	t.create("web", 2)
	sweep := func(want int) {
		n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
		t.must(err)
		if n != want {
			t.Fatalf("%d steps moved, want %d", n, want)
		}
	}
	one, two := t.claim("w1"), t.claim("w2")
	t.fail(one, app.Retry{Again: true, After: 20 * time.Minute})
	t.clock.Move(15 * time.Minute)
	_, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w2"}, []app.Fence{fence(two)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	sweep(0)
	t.fail(two, app.Retry{Again: true, After: time.Second})
	t.clock.Move(-15 * time.Minute)
	sweep(2)
	sweep(0)
	for range 2 {
		if c := t.claim("w3"); c == nil || c.Step.Attempt != 2 {
			t.Fatalf("there is %+v, want a second attempt", c)
		}
	}
}

func (t *storeTest) pausedThings() {
	op := t.create("web", 2)
	one, two := t.claim("w1"), t.claim("w2")
	t.control(op.ID, app.ControlPause, "")
	// Neither a lost claim nor a back-off that is over begins anything.
	t.fail(one, app.Retry{Again: true, After: time.Second})
	t.clock.Move(execution.ClaimFor + time.Second)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d steps moved, want the lost one and the one that is due", n)
	}
	if n, err = t.s.SweepSteps(t.ctx, t.clock.Now()); err != nil || n != 0 {
		t.Errorf("the next sweep moves %d (%v), want none", n, err)
	}
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out of a paused operation", c.Step.ID)
	}
	t.control(op.ID, app.ControlResume, "")
	again := t.claim("w3")
	if again == nil || again.Step.Attempt != 2 {
		t.Fatalf("after the resume there is %+v, want a second attempt", again)
	}
	_ = two
	// A delete does not wait for somebody to resume.
	t.control(op.ID, app.ControlPause, "")
	gone := t.remove(2)
	if gone.Status != app.OperationWaiting {
		t.Errorf("the delete is %s while a step runs", gone.Status)
	}
	t.fail(again, app.Retry{})
	if o := t.operation("web-1", op.ID); o.Status != app.OperationCancelled {
		t.Errorf("the paused operation is %s after the delete, want cancelled", o.Status)
	}
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) deletePaused() {
	op := t.create("web", 1)
	t.control(op.ID, app.ControlPause, "")
	if gone := t.remove(1); gone.Status != app.OperationRunning {
		t.Errorf("the delete of a paused cluster is %s, want running at once", gone.Status)
	}
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) retryNode() {
	op := t.create("web", 3)
	for range 3 {
		if c := t.claim("w"); c.Node.Name == "n3" {
			defer t.finish(c, false)
		} else {
			t.fail(c, app.Retry{})
		}
	}
	_, err := t.tryControl(op.ID, app.ControlResume, "n3")
	t.code(err, app.EConflict)
	// While other nodes go on, one node's failed steps are taken up again.
	if o := t.control(op.ID, app.ControlResume, "n1"); o.Status != app.OperationRunning {
		t.Fatalf("the operation is %s", o.Status)
	}
	c := t.claim("w")
	if c == nil || c.Step.ID != "n1.create" || c.Step.Tries != 1 || c.Step.Attempt != 2 {
		t.Fatalf("to be had is %+v, want the second attempt of n1.create with all its tries", c)
	}
	t.fail(c, app.Retry{})
	if s := t.states(op.ID); !strings.Contains(s, "n2.create failed") {
		t.Errorf("steps are %s, want n2 left as it was", s)
	}
}

func (t *storeTest) retryNodeOfFailed() {
	op := t.create("web", 2)
	t.fail(t.claim("w"), app.Retry{})
	t.fail(t.claim("w"), app.Retry{})
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	t.control(op.ID, app.ControlResume, "n2")
	t.status("web-1", app.ClusterPending, app.OperationRunning)
	if ids := fmt.Sprint(t.drain()); ids != "[n2.create n2.confirm]" {
		t.Errorf("carried out was %s, want what n2 can do alone", ids)
	}
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	t.control(op.ID, app.ControlResume, "")
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) rollBack() {
	n := NewCluster(tenant, "web", 3, t.clock.Now(), Chain(3))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	if op.OnFailure != app.FailureRollBack {
		t.Errorf("the choice %q was not kept", op.OnFailure)
	}
	undo := func(p app.Plan) (app.Operation, error) {
		return t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: p, Operation: app.Operation{Tenant: tenant, Cluster: "web-1",
			Kind: app.OperationRollBack, Undoes: op.ID, Requester: "ada", CreatedAt: t.clock.Now()}})
	}
	_, err = undo(Remove(3))
	t.code(err, app.EConflict)
	t.finish(t.claim("w"), false)
	for c := t.claim("w"); c != nil; c = t.claim("w") {
		t.fail(c, app.Retry{})
	}
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	due, err := t.s.RollBacksDue(t.ctx, 10)
	t.must(err)
	if len(due) != 1 || due[0].ID != op.ID {
		t.Errorf("to be rolled back is %+v, want the create", due)
	}
	_, err = undo(Remove(1)) // which leaves machines that may be there
	t.code(err, app.EConflict)
	back, err := undo(Remove(3))
	t.must(err)
	if back.Undoes != op.ID {
		t.Errorf("the roll-back undoes %d, want %d", back.Undoes, op.ID)
	}
	if due, err = t.s.RollBacksDue(t.ctx, 10); err != nil || len(due) != 0 {
		t.Errorf("still to be rolled back is %+v (%v)", due, err)
	}
	_, err = t.tryControl(op.ID, app.ControlResume, "")
	t.code(err, app.EConflict)
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	secrets, err := t.s.ClusterSecrets(t.ctx, tenant, "web-1")
	t.must(err)
	if len(secrets.PrivateKey) != 0 {
		t.Error("the private key outlived the cluster")
	}
}

func (t *storeTest) rollBackOfCancelled() {
	n := NewCluster(tenant, "web", 3, t.clock.Now(), Chain(3))
	op, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.finish(t.claim("w"), false) // one machine was made, two were never asked for
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlCancel, RollBack: true, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	due, err := t.s.RollBacksDue(t.ctx, 10)
	t.must(err)
	if len(due) != 1 || due[0].Status != app.OperationCancelled {
		t.Fatalf("to be rolled back is %+v, want the cancelled create", due)
	}
	steps, err := t.s.Steps(t.ctx, tenant, op.ID)
	t.must(err)
	made := ""
	for _, s := range steps {
		if s.Action == app.ActionCreate && s.State == app.StepSucceeded {
			made = s.Node
		}
	}
	p := app.Plan{Kind: app.OperationRollBack, Steps: []app.PlanStep{{ID: made + ".delete", Node: made, Action: app.ActionDelete}}}
	_, err = t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: p, Operation: app.Operation{Tenant: tenant, Cluster: "web-1",
		Kind: app.OperationRollBack, Undoes: op.ID, Requester: "muster", CreatedAt: t.clock.Now()}})
	t.must(err)
	t.drain()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	live, err := t.s.IntentsOf(t.ctx, "cloud")
	t.must(err)
	if len(live) != 0 {
		t.Errorf("intents %v outlived the cluster", live)
	}
}
