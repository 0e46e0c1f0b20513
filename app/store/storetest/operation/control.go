package operation

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) cancel() {
	op := t.Create("web", 3)
	running, silent := t.Claim("w1"), t.Claim("w2")
	if o := t.Control(op.ID, app.ControlCancel, ""); o.Status != app.OperationCancelling || !strings.Contains(o.Message,
		"ada") || !strings.Contains(o.Message, "to look at it") {
		t.Fatalf("cancelled while two steps run, the operation is %s (%s), want cancelling, by whom and why", o.Status, o.Message)
	}
	if c := t.Claim("w3"); c != nil {
		t.Fatalf("%s was handed out of a cancelled operation", c.Step.ID)
	}
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(dispatches) != 0 {
		t.Errorf("queue messages %+v are sent for a cancelled operation", dispatches)
	}
	_, err = t.TryControl(op.ID, app.ControlCancel, "")
	t.Code(err, app.EConflict)
	_, err = t.TryControl(op.ID, app.ControlPause, "")
	t.Code(err, app.EConflict)
	d, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w1"}, []app.Fence{kit.Fence(running)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	if !d[0].Cancel || d[0].Lost {
		t.Fatalf("the running step is reported %+v, want to stop", d[0])
	}
	// One was done all the same; its successors do not begin. The other worker never answers.
	if next := t.Finish(running, true); next != nil {
		t.Fatalf("%s was begun after the cancel", next.Step.ID)
	}
	t.Status("web-1", app.ClusterPending, app.OperationCancelling)
	t.Clock.Move(execution.ClaimFor + time.Second)
	_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	t.Status("web-1", app.ClusterFailed, app.OperationCancelled)
	_, err = t.End("w2", execution.Finish{Fence: kit.Fence(silent), Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	if s := t.States(op.ID); strings.Count(s, "dropped") != 11 || strings.Count(s, "succeeded") != 1 {
		t.Errorf("steps are %s, want one succeeded and all others dropped", s)
	}
	_, err = t.TryControl(op.ID, app.ControlResume, "")
	t.Code(err, app.EConflict)
	t.Remove(3)
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) cancelWaiting() {
	first := t.Create("web", 1)
	waits := t.Submit(app.OperationCreate, "web-1", apptest.Chain(1), false)
	if waits.Status != app.OperationWaiting {
		t.Fatalf("behind another one, the operation is %s", waits.Status)
	}
	if o := t.Control(waits.ID, app.ControlCancel, ""); o.Status != app.OperationCancelled {
		t.Errorf("an operation that waits is %s after a cancel, want cancelled at once", o.Status)
	}
	if c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1"); err != nil || c.Status != app.ClusterPending {
		t.Errorf("the cluster is %s (%v), although its first operation continues", c.Status, err)
	}
	t.FailStep(t.Claim("w"), app.Retry{})
	// What never began does not keep the other one from being resumed.
	t.Control(first.ID, app.ControlResume, "")
	t.Drain()
	if o := t.Operation("web-1", first.ID); o.Status != app.OperationSucceeded {
		t.Errorf("the first operation is %s", o.Status)
	}
}

func (t *storeTest) pause() {
	op := t.Create("web", 2)
	running := t.Claim("w")
	if o := t.Control(op.ID, app.ControlPause, ""); o.Status != app.OperationPaused {
		t.Fatalf("paused, it is %s", o.Status)
	}
	if c := t.Claim("w"); c != nil {
		t.Fatalf("%s was handed out of a paused operation", c.Step.ID)
	}
	d, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w"}, []app.Fence{kit.Fence(running)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	if d[0].Cancel || d[0].Lost {
		t.Errorf("a running step of a paused operation is reported %+v, want to continue", d[0])
	}
	if next := t.Finish(running, true); next != nil {
		t.Fatalf("%s was begun in a paused operation", next.Step.ID)
	}
	t.Clock.Move(time.Hour)
	_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(dispatches) != 0 {
		t.Errorf("%d queue messages are sent for a paused operation", len(dispatches))
	}
	t.Status("web-1", app.ClusterPending, app.OperationPaused)
	_, err = t.TryControl(op.ID, app.ControlPause, "")
	t.Code(err, app.EConflict)
	waits := t.Submit(app.OperationCreate, "web-1", apptest.Chain(1), false)
	if o := t.Control(op.ID, app.ControlResume, ""); o.Status != app.OperationRunning || o.Message != "" {
		t.Errorf("resumed, it is %s (%s)", o.Status, o.Message)
	}
	dispatches, err = t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(dispatches) != 2 {
		t.Errorf("%d queue messages are sent after the resume, want one for each node", len(dispatches))
	}
	t.Drain()
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationSucceeded {
		t.Errorf("resumed, it ended as %s", o.Status)
	}
	if o := t.Operation("web-1", waits.ID); o.Status != app.OperationSucceeded {
		t.Errorf("the one behind it is %s", o.Status)
	}
}

// backOffByAWrongClock: a wait that was worked out while the clock was ahead is over once the clock is right. One from before it was wrong is, too:
// nothing tells the two apart, and one try too early does no harm.
func (t *storeTest) backOffByAWrongClock() {
	t.Create("web", 2)
	sweep := func(want int) {
		n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
		t.Must(err)
		if n != want {
			t.Fatalf("%d steps moved, want %d", n, want)
		}
	}
	one, two := t.Claim("w1"), t.Claim("w2")
	t.FailStep(one, app.Retry{Again: true, After: 20 * time.Minute})
	t.Clock.Move(15 * time.Minute)
	_, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w2"}, []app.Fence{kit.Fence(two)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	sweep(0)
	t.FailStep(two, app.Retry{Again: true, After: time.Second})
	t.Clock.Move(-15 * time.Minute)
	sweep(2)
	sweep(0)
	for range 2 {
		if c := t.Claim("w3"); c == nil || c.Step.Attempt != 2 {
			t.Fatalf("there is %+v, want a second attempt", c)
		}
	}
}

func (t *storeTest) pausedThings() {
	op := t.Create("web", 2)
	one, two := t.Claim("w1"), t.Claim("w2")
	t.Control(op.ID, app.ControlPause, "")
	// Neither a lost claim nor a back-off that is over begins anything.
	t.FailStep(one, app.Retry{Again: true, After: time.Second})
	t.Clock.Move(execution.ClaimFor + time.Second)
	n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 2 {
		t.Errorf("%d steps moved, want the lost one and the one that is due", n)
	}
	if n, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now()); err != nil || n != 0 {
		t.Errorf("the next sweep moves %d (%v), want none", n, err)
	}
	if c := t.Claim("w"); c != nil {
		t.Fatalf("%s was handed out of a paused operation", c.Step.ID)
	}
	t.Control(op.ID, app.ControlResume, "")
	again := t.Claim("w3")
	if again == nil || again.Step.Attempt != 2 {
		t.Fatalf("after the resume there is %+v, want a second attempt", again)
	}
	_ = two
	// A delete does not wait for someone to resume.
	t.Control(op.ID, app.ControlPause, "")
	gone := t.Remove(2)
	if gone.Status != app.OperationWaiting {
		t.Errorf("deletion is %s while a step runs", gone.Status)
	}
	t.FailStep(again, app.Retry{})
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationCancelled {
		t.Errorf("the paused operation is %s after deletion, want cancelled", o.Status)
	}
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) deletePaused() {
	op := t.Create("web", 1)
	t.Control(op.ID, app.ControlPause, "")
	if gone := t.Remove(1); gone.Status != app.OperationRunning {
		t.Errorf("deletion of a paused cluster is %s, want running at once", gone.Status)
	}
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) retryNode() {
	op := t.Create("web", 3)
	for range 3 {
		if c := t.Claim("w"); c.Node.Name == "n3" {
			defer t.Finish(c, false)
		} else {
			t.FailStep(c, app.Retry{})
		}
	}
	_, err := t.TryControl(op.ID, app.ControlResume, "n3")
	t.Code(err, app.EConflict)
	// While other nodes continue, one node's failed steps are taken up again.
	if o := t.Control(op.ID, app.ControlResume, "n1"); o.Status != app.OperationRunning {
		t.Fatalf("the operation is %s", o.Status)
	}
	c := t.Claim("w")
	if c == nil || c.Step.ID != "n1.create" || c.Step.Tries != 1 || c.Step.Attempt != 2 {
		t.Fatalf("to be had is %+v, want the second attempt of n1.create with all its tries", c)
	}
	t.FailStep(c, app.Retry{})
	if s := t.States(op.ID); !strings.Contains(s, "n2.create failed") {
		t.Errorf("steps are %s, want n2 left as it was", s)
	}
}

func (t *storeTest) retryNodeOfFailed() {
	op := t.Create("web", 2)
	t.FailStep(t.Claim("w"), app.Retry{})
	t.FailStep(t.Claim("w"), app.Retry{})
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	t.Control(op.ID, app.ControlResume, "n2")
	t.Status("web-1", app.ClusterPending, app.OperationRunning)
	if ids := fmt.Sprint(t.Drain()); ids != "[n2.create n2.confirm]" {
		t.Errorf("carried out was %s, want what n2 can do alone", ids)
	}
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	t.Control(op.ID, app.ControlResume, "")
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) rollBack() {
	n := apptest.NewCluster(kit.Tenant, "web", 3, t.Clock.Now(), apptest.Chain(3))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	if op.OnFailure != app.FailureRollBack {
		t.Errorf("the choice %q was not kept", op.OnFailure)
	}
	undo := func(p plan.Plan) (app.Operation, error) {
		return t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: p, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1",
			Kind: app.OperationRollBack, RollsBack: op.ID, Requester: "ada", CreatedAt: t.Clock.Now()}})
	}
	_, err = undo(apptest.Remove(3))
	t.Code(err, app.EConflict)
	t.Finish(t.Claim("w"), false)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		t.FailStep(c, app.Retry{})
	}
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	due, err := t.Store.RollBacksDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].ID != op.ID {
		t.Errorf("to be rolled back is %+v, want creation", due)
	}
	_, err = undo(apptest.Remove(1)) // which leaves machines that may be there
	t.Code(err, app.EConflict)
	back, err := undo(apptest.Remove(3))
	t.Must(err)
	if back.RollsBack != op.ID {
		t.Errorf("the rollback undoes %d, want %d", back.RollsBack, op.ID)
	}
	if due, err = t.Store.RollBacksDue(t.Ctx, 10); err != nil || len(due) != 0 {
		t.Errorf("still to be rolled back is %+v (%v)", due, err)
	}
	_, err = t.TryControl(op.ID, app.ControlResume, "")
	t.Code(err, app.EConflict)
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	secrets, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if len(secrets.PrivateKey) != 0 {
		t.Error("the private key outlived the cluster")
	}
}

func (t *storeTest) rollBackOfCancelled() {
	n := apptest.NewCluster(kit.Tenant, "web", 3, t.Clock.Now(), apptest.Chain(3))
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Finish(t.Claim("w"), false) // one machine was made, two were never asked for
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlCancel, RollBack: true, Who: "ada",
		Now: t.Clock.Now()})
	t.Must(err)
	due, err := t.Store.RollBacksDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].Status != app.OperationCancelled {
		t.Fatalf("to be rolled back is %+v, want the cancelled create", due)
	}
	steps, err := t.Store.Steps(t.Ctx, kit.Tenant, op.ID)
	t.Must(err)
	made := ""
	for _, s := range steps {
		if s.Action == app.ActionCreate && s.State == app.StepSucceeded {
			made = s.Node
		}
	}
	p := plan.Plan{Kind: app.OperationRollBack, Steps: []plan.Step{{ID: made + ".delete", Node: made, Action: app.ActionDelete}}}
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: p, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1",
		Kind: app.OperationRollBack, RollsBack: op.ID, Requester: "muster", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	live, err := t.Store.IntentsOf(t.Ctx, "cloud")
	t.Must(err)
	if len(live) != 0 {
		t.Errorf("intents %v outlived the cluster", live)
	}
}
