package execution

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) runsToItsEnd() {
	t.Create("web", 2)
	ids := t.Drain()
	want := []string{"n1.create", "n1.confirm", "n2.create", "n2.confirm", "n2.a.start", "n2.b.start", "n1.a.start", "n1.b.start"}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("steps ran as %v\nwant        %v", ids, want)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if ops[0].Done != 8 || ops[0].Total != 8 {
		t.Errorf("done %d of %d, want 8 of 8", ops[0].Done, ops[0].Total)
	}
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if nodes[1].MachineID != "m-n2" || nodes[1].Addresses[app.AddressAccess] != "10.0.0.1" {
		t.Errorf("outputs did not land on the node: %+v", nodes[1])
	}
	if nodes[1].Zone != "here" || nodes[1].Image != "host" {
		t.Errorf("the node is not as requested: %+v", nodes[1])
	}
	secrets, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if !bytes.Equal(secrets.PrivateKey, []byte("the cluster's private key")) {
		t.Error("the private key did not come back")
	}
	steps, err := t.Store.Steps(t.Ctx, kit.Tenant, ops[0].ID)
	t.Must(err)
	if len(steps) != 8 || fmt.Sprint(steps[4].Needs) != "[1 3]" {
		t.Errorf("n1.a.start needs %v of %d steps, want both confirms: [1 3]", steps[4].Needs, len(steps))
	}
}

func (t *storeTest) oldFence() {
	t.Create("web", 1)
	c := t.Claim("w1")
	if c.HostKey == nil {
		t.Error("a creation is handed the host key")
	}
	t.Finish(c, false)
	_, err := t.End("w1", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	c = t.Claim("w1")
	f := kit.Fence(c)
	f.Attempt--
	_, err = t.End("w1", execution.Finish{Fence: f, Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	_, err = t.End("w2", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now()})
	t.Code(err, app.EStale)
}

func (t *storeTest) lostAnswer() {
	t.Create("web", 1)
	c := t.Claim("w1")
	f := execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), ClaimFor: execution.ClaimFor}
	next, err := t.End("w1", f)
	t.Must(err)
	again, err := t.End("w1", f)
	t.Must(err)
	if next == nil || again == nil || kit.Fence(again) != kit.Fence(next) {
		t.Fatalf("asked again, the answer is %+v, was %+v", again, next)
	}
	_, err = t.End("w2", f)
	t.Code(err, app.EStale)
}

func (t *storeTest) lostClaim() {
	t.Create("web", 1)
	old := t.Claim("w1")
	t.Clock.Move(execution.ClaimFor / 2)
	d, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w1"}, []app.Fence{kit.Fence(old)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	if d[0].Lost || d[0].Cancel {
		t.Fatalf("a living claim was refused: %+v", d[0])
	}
	t.Clock.Move(execution.ClaimFor - time.Second)
	n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 0 {
		t.Fatal("an extended claim was taken back")
	}
	t.Clock.Move(2 * time.Second)
	n, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 1 {
		t.Fatalf("%d claims taken back, want 1", n)
	}
	again := t.Claim("w2")
	if again == nil || again.Step.ID != old.Step.ID || again.Step.Attempt != old.Step.Attempt+1 {
		t.Fatalf("the step is not to be had again: %+v", again)
	}
	_, err = t.End("w1", execution.Finish{Fence: kit.Fence(old), Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	d, err = t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w1"}, []app.Fence{kit.Fence(old)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	if !d[0].Lost {
		t.Error("the old worker doesn't learn that its claim is lost")
	}
	n, err = t.Store.ReleaseClaims(t.Ctx, "w", t.Clock.Now())
	t.Must(err)
	if n != 1 {
		t.Errorf("%d claims released, want 1", n)
	}
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) backOff() {
	t.Create("web", 1)
	t.FailStep(t.Claim("w"), app.Retry{Again: true, After: time.Minute})
	if c := t.Claim("w"); c != nil {
		t.Fatalf("%s was handed out during its back-off", c.Step.ID)
	}
	t.Clock.Move(time.Minute)
	_, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) manyBackOffs() {
	const nodes = 520 // more than one sweep takes
	t.Create("web", nodes)
	var all sync.WaitGroup
	for range nodes {
		all.Go(func() { t.FailStep(t.Claim("w"), app.Retry{Again: true, After: time.Minute}) })
	}
	all.Wait()
	t.Clock.Move(time.Minute)
	for {
		n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
		t.Must(err)
		if n == 0 {
			break
		}
	}
	dispatches, err := t.Store.Undispatched(t.Ctx, 2*nodes)
	t.Must(err)
	if len(dispatches) != nodes {
		t.Errorf("%d of %d steps are to be had after their back-off", len(dispatches), nodes)
	}
}

func (t *storeTest) clockSetBack() {
	t.Create("web", 2)
	t.Claim("w")
	t.FailStep(t.Claim("w"), app.Retry{Again: true, After: time.Minute})
	t.Clock.Move(-24 * time.Hour)
	n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 2 {
		t.Errorf("%d steps were moved, want the lost claim and the back-off of another day", n)
	}
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	t.Clock.Move(24 * time.Hour)
	t.Must(t.Store.MarkDispatched(t.Ctx, dispatches, t.Clock.Now()))
	t.Clock.Move(-24 * time.Hour)
	n, err = t.Store.Redispatch(t.Ctx, "", t.Clock.Now())
	t.Must(err)
	if n != 2 {
		t.Errorf("%d queue messages of another day are sent again, want 2", n)
	}
}

func (t *storeTest) resume() {
	op := t.Create("web", 2)
	t.FailStep(t.Claim("w"), app.Retry{})
	t.Drain() // the other node continues as far as it can
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	_, err := t.Store.ControlOperation(t.Ctx, app.Control{Tenant: "t2", Operation: op.ID, Act: app.ControlResume, Who: "eve", Now: t.Clock.Now()})
	t.Code(err, app.ENotFound)
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	t.Status("web-1", app.ClusterPending, app.OperationRunning)
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.Clock.Now()})
	t.Code(err, app.EConflict)
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}
