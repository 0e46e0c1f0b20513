package operation

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) deleteDuringCreate() {
	t.Create("web", 2)
	running := t.Claim("w")
	op, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(2), Cancel: true, Operation: app.Operation{Tenant: kit.Tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	if op.Status != app.OperationWaiting {
		t.Fatalf("deletion is %s while a create step runs, want waiting", op.Status)
	}
	if c := t.Claim("w"); c != nil {
		t.Fatalf("%s was handed out of a cancelled operation", c.Step.ID)
	}
	d, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: kit.Tenant, Name: "w"}, []app.Fence{kit.Fence(running)}, t.Clock.Now(), execution.ClaimFor)
	t.Must(err)
	if !d[0].Cancel {
		t.Error("the running step is not asked to stop")
	}
	t.FailStep(running, app.Retry{Again: true})
	if ids := t.Drain(); len(ids) != 2 {
		t.Errorf("deletion ran %v, want two steps", ids)
	}
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	live, err := t.Store.IntentsOf(t.Ctx, "cloud")
	t.Must(err)
	if len(live) != 0 {
		t.Errorf("intents %v are still open", live)
	}
	for intent, want := range map[string]bool{"t1-web-n1": true, "unknown": false} {
		ended, _, err := t.Store.IntentKnown(t.Ctx, "cloud", intent)
		t.Must(err)
		if ended != want {
			t.Errorf("intent %s has ended: %v, want %v", intent, ended, want)
		}
	}
	secrets, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if len(secrets.PrivateKey) != 0 {
		t.Error("the private key outlived the cluster")
	}
	ended, err := t.Store.ExpiredClusters(t.Ctx, t.Clock.Now().Add(time.Hour), 10)
	t.Must(err)
	if len(ended) != 0 {
		t.Error("a deleted cluster has expired")
	}
}

func (t *storeTest) deletedOnce() {
	t.Create("web", 1)
	t.Drain()
	op := t.Remove(1)
	if again := t.Remove(1); again.ID != op.ID {
		t.Errorf("a second delete began beside the first: %+v", again)
	}
	t.Drain()
	if after := t.Remove(1); after.ID != op.ID || after.Status != app.OperationSucceeded {
		t.Errorf("a cluster that is gone is deleted again: %+v", after)
	}
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Chain(1), Operation: app.Operation{Tenant: kit.Tenant,
		Cluster: "web-1", Kind: app.OperationCreate, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Code(err, app.EConflict)
}

func (t *storeTest) failedDelete() {
	t.Create("web", 1)
	t.Drain()
	op := t.Remove(1)
	due := func() bool {
		t.Helper()
		ops, err := t.Store.FailedDeletes(t.Ctx, t.Clock.Now(), time.Minute, 5*time.Minute, 10)
		t.Must(err)
		return len(ops) == 1 && ops[0].ID == op.ID
	}
	for _, wait := range []time.Duration{time.Minute, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		t.FailStep(t.Claim("w"), app.Retry{})
		t.Status("web-1", app.ClusterFailed, app.OperationFailed)
		t.Clock.Move(wait - time.Second)
		if due() {
			t.Errorf("it is tried again before %s", wait)
		}
		t.Clock.Move(time.Second)
		if !due() {
			t.Fatalf("it is not tried again after %s", wait)
		}
		_, err := t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlResume, Who: "muster", Now: t.Clock.Now()})
		t.Must(err)
		if due() {
			t.Error("it is tried while it runs")
		}
	}
	t.FailStep(t.Claim("w"), app.Retry{})
	op = t.Remove(1) // a person asks again: only that one counts
	t.FailStep(t.Claim("w"), app.Retry{})
	t.Clock.Move(time.Hour)
	if !due() {
		t.Error("the newer delete is not the one that is tried again")
	}
}
