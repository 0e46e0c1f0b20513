package apptest

import (
	"time"

	"muster/app"
	"muster/app/execution"
)

func (t *storeTest) deleteDuringCreate() {
	t.create("web", 2)
	running := t.claim("w")
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Remove(2), Cancel: true, Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	if op.Status != app.OperationWaiting {
		t.Fatalf("the delete is %s while a create step runs, want waiting", op.Status)
	}
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out of a cancelled operation", c.Step.ID)
	}
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w"}, []app.Fence{fence(running)}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if !d[0].Cancel {
		t.Error("the running step is not told to stop")
	}
	t.fail(running, app.Retry{Again: true})
	if ids := t.drain(); len(ids) != 2 {
		t.Errorf("the delete ran %v, want two steps", ids)
	}
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	live, err := t.s.IntentsOf(t.ctx, "cloud")
	t.must(err)
	if len(live) != 0 {
		t.Errorf("intents %v are still open", live)
	}
	for intent, want := range map[string]bool{"t1-web-n1": true, "unknown": false} {
		ended, _, err := t.s.IntentKnown(t.ctx, "cloud", intent)
		t.must(err)
		if ended != want {
			t.Errorf("intent %s has ended: %v, want %v", intent, ended, want)
		}
	}
	secrets, err := t.s.ClusterSecrets(t.ctx, tenant, "web-1")
	t.must(err)
	if len(secrets.PrivateKey) != 0 {
		t.Error("the private key outlived the cluster")
	}
	ended, err := t.s.ExpiredClusters(t.ctx, t.clock.Now().Add(time.Hour), 10)
	t.must(err)
	if len(ended) != 0 {
		t.Error("a deleted cluster has expired")
	}
}

func (t *storeTest) remove(nodes int) app.Operation {
	t.Helper()
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Remove(nodes), Cancel: true, Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	return op
}

func (t *storeTest) deletedOnce() {
	t.create("web", 1)
	t.drain()
	op := t.remove(1)
	if again := t.remove(1); again.ID != op.ID {
		t.Errorf("a second delete began beside the first: %+v", again)
	}
	t.drain()
	if after := t.remove(1); after.ID != op.ID || after.Status != app.OperationSucceeded {
		t.Errorf("a cluster that is gone is deleted again: %+v", after)
	}
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	_, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Chain(1), Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationCreate, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.code(err, app.EConflict)
}

func (t *storeTest) failedDelete() {
	t.create("web", 1)
	t.drain()
	op := t.remove(1)
	due := func() bool {
		t.Helper()
		ops, err := t.s.FailedDeletes(t.ctx, t.clock.Now(), time.Minute, 5*time.Minute, 10)
		t.must(err)
		return len(ops) == 1 && ops[0].ID == op.ID
	}
	for _, wait := range []time.Duration{time.Minute, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		t.fail(t.claim("w"), app.Retry{})
		t.status("web-1", app.ClusterFailed, app.OperationFailed)
		t.clock.Move(wait - time.Second)
		if due() {
			t.Errorf("it is tried again before %s", wait)
		}
		t.clock.Move(time.Second)
		if !due() {
			t.Fatalf("it is not tried again after %s", wait)
		}
		_, err := t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "muster", Now: t.clock.Now()})
		t.must(err)
		if due() {
			t.Error("it is tried while it runs")
		}
	}
	t.fail(t.claim("w"), app.Retry{})
	op = t.remove(1) // a person asks anew: only that one counts
	t.fail(t.claim("w"), app.Retry{})
	t.clock.Move(time.Hour)
	if !due() {
		t.Error("the newer delete is not the one that is tried again")
	}
}
