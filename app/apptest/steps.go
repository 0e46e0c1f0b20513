package apptest

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
)

func (t *storeTest) runsToItsEnd() {
	t.create("web", 2)
	ids := t.drain()
	want := []string{"n1.create", "n1.confirm", "n2.create", "n2.confirm", "n2.a.start", "n2.b.start", "n1.a.start", "n1.b.start"}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("steps ran as %v\nwant        %v", ids, want)
	}
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	if ops[0].Done != 8 || ops[0].Total != 8 {
		t.Errorf("done %d of %d, want 8 of 8", ops[0].Done, ops[0].Total)
	}
	nodes, err := t.s.Nodes(t.ctx, tenant, "web-1")
	t.must(err)
	if nodes[1].MachineID != "m-n2" || nodes[1].Addresses[app.AddressAccess] != "10.0.0.1" {
		t.Errorf("outputs did not land on the node: %+v", nodes[1])
	}
	if nodes[1].Zone != "here" || nodes[1].Image != "host" {
		t.Errorf("the node is not as it was asked for: %+v", nodes[1])
	}
	secrets, err := t.s.ClusterSecrets(t.ctx, tenant, "web-1")
	t.must(err)
	if !bytes.Equal(secrets.PrivateKey, []byte("the cluster's private key")) {
		t.Error("the private key did not come back")
	}
	steps, err := t.s.Steps(t.ctx, tenant, ops[0].ID)
	t.must(err)
	if len(steps) != 8 || fmt.Sprint(steps[4].Needs) != "[1 3]" {
		t.Errorf("n1.a.start needs %v of %d steps, want both confirms: [1 3]", steps[4].Needs, len(steps))
	}
}

func (t *storeTest) oldFence() {
	t.create("web", 1)
	c := t.claim("w1")
	if c.HostKey == nil {
		t.Error("a create is handed the host key")
	}
	t.finish(c, false)
	_, err := t.end("w1", app.Finish{Fence: fence(c), Now: t.clock.Now()})
	t.code(err, app.EStale)
	c = t.claim("w1")
	f := fence(c)
	f.Attempt--
	_, err = t.end("w1", app.Finish{Fence: f, Now: t.clock.Now()})
	t.code(err, app.EStale)
	_, err = t.end("w2", app.Finish{Fence: fence(c), Now: t.clock.Now()})
	t.code(err, app.EStale)
}

func (t *storeTest) lostAnswer() {
	t.create("web", 1)
	c := t.claim("w1")
	f := app.Finish{Fence: fence(c), Now: t.clock.Now(), ClaimFor: execution.ClaimFor}
	next, err := t.end("w1", f)
	t.must(err)
	again, err := t.end("w1", f)
	t.must(err)
	if next == nil || again == nil || fence(again) != fence(next) {
		t.Fatalf("asked again, the answer is %+v, was %+v", again, next)
	}
	_, err = t.end("w2", f)
	t.code(err, app.EStale)
}

func (t *storeTest) lostClaim() {
	t.create("web", 1)
	old := t.claim("w1")
	t.clock.Move(execution.ClaimFor / 2)
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w1"}, []app.Fence{fence(old)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if d[0].Lost || d[0].Cancel {
		t.Fatalf("a living claim was refused: %+v", d[0])
	}
	t.clock.Move(execution.ClaimFor - time.Second)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 0 {
		t.Fatal("an extended claim was taken back")
	}
	t.clock.Move(2 * time.Second)
	n, err = t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 1 {
		t.Fatalf("%d claims taken back, want 1", n)
	}
	again := t.claim("w2")
	if again == nil || again.Step.ID != old.Step.ID || again.Step.Attempt != old.Step.Attempt+1 {
		t.Fatalf("the step is not to be had again: %+v", again)
	}
	_, err = t.end("w1", app.Finish{Fence: fence(old), Now: t.clock.Now()})
	t.code(err, app.EStale)
	d, err = t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w1"}, []app.Fence{fence(old)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if !d[0].Lost {
		t.Error("the old worker is not told that its claim is lost")
	}
	n, err = t.s.ReleaseClaims(t.ctx, "w", t.clock.Now())
	t.must(err)
	if n != 1 {
		t.Errorf("%d claims released, want 1", n)
	}
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) backOff() {
	t.create("web", 1)
	t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute})
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out during its back-off", c.Step.ID)
	}
	t.clock.Move(time.Minute)
	_, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) manyBackOffs() {
	const nodes = 520 // more than one sweep takes
	t.create("web", nodes)
	var all sync.WaitGroup
	for range nodes {
		all.Go(func() { t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute}) })
	}
	all.Wait()
	t.clock.Move(time.Minute)
	for {
		n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
		t.must(err)
		if n == 0 {
			break
		}
	}
	bells, err := t.s.Unrung(t.ctx, 2*nodes)
	t.must(err)
	if len(bells) != nodes {
		t.Errorf("%d of %d steps are to be had after their back-off", len(bells), nodes)
	}
}

func (t *storeTest) clockSetBack() {
	t.create("web", 2)
	t.claim("w")
	t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute})
	t.clock.Move(-24 * time.Hour)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d steps were moved, want the lost claim and the back-off of another day", n)
	}
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	t.clock.Move(24 * time.Hour)
	t.must(t.s.MarkRung(t.ctx, bells, t.clock.Now()))
	t.clock.Move(-24 * time.Hour)
	n, err = t.s.Unring(t.ctx, "", t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d bells of another day are rung again, want 2", n)
	}
}

func (t *storeTest) resume() {
	op := t.create("web", 2)
	t.fail(t.claim("w"), app.Retry{})
	t.drain() // the other node goes on as far as it can
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	_, err := t.s.ControlOperation(t.ctx, app.Control{Tenant: "t2", Operation: op.ID, Act: app.ControlResume, Who: "eve", Now: t.clock.Now()})
	t.code(err, app.ENotFound)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	t.status("web-1", app.ClusterPending, app.OperationRunning)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.clock.Now()})
	t.code(err, app.EConflict)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}
