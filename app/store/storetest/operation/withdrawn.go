package operation

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store/storetest/kit"
)

// calledOff: what is called off before it began has changed nothing. So a create that a delete had stopped is rolled back
// after all, where that is what its requester wants of it.
func (t *storeTest) calledOff() {
	n := apptest.NewCluster(kit.Tenant, "web", 2, t.Clock.Now(), apptest.Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	running := t.Claim("w")
	due := func(want int, when string) {
		t.Helper()
		ops, err := t.Store.RollBacksDue(t.Ctx, 10)
		t.Must(err)
		if len(ops) != want || want == 1 && ops[0].ID != op.ID {
			t.Fatalf("%s, to be rolled back is %+v, want %d", when, ops, want)
		}
	}
	first := t.Remove(2)
	t.Control(first.ID, app.ControlCancel, "")
	second := t.Remove(2)
	t.FailStep(running, app.Retry{Again: true})
	if o := t.Operation("web-1", second.ID); o.Status != app.OperationRunning {
		t.Fatalf("the second delete is %s", o.Status)
	}
	due(0, "while the second delete runs")

	// The same with nothing that follows.
	n = apptest.NewCluster(kit.Tenant, "db", 2, t.Clock.Now(), apptest.Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	t.Control(second.ID, app.ControlCancel, "")
	op, err = t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	running = t.Claim("w")
	off := t.Submit(app.OperationDelete, "db-1", apptest.Remove(2), true)
	if off.Status != app.OperationWaiting {
		t.Fatalf("deletion is %s while a step runs", off.Status)
	}
	t.Control(off.ID, app.ControlCancel, "")
	due(0, "while a step runs")
	t.FailStep(running, app.Retry{Again: true})
	due(1, "after deletion was called off and creation has stopped")
}

// leaseAfterCalledOff: a delete that failed keeps a lease from being ended only as long as it is tried again by itself.
func (t *storeTest) leaseAfterCalledOff() {
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = t.Clock.Now().Add(time.Hour)
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Drain()
	t.Clock.Move(2 * time.Hour)
	expired := func(want int, when string) {
		t.Helper()
		list, err := t.Store.ExpiredClusters(t.Ctx, t.Clock.Now(), 10)
		t.Must(err)
		if len(list) != want {
			t.Errorf("%s, %d leases are to be ended, want %d", when, len(list), want)
		}
	}
	expired(1, "after its time")
	t.Remove(1)
	expired(0, "while it is deleted")
	t.FailStep(t.Claim("w"), app.Retry{})
	expired(0, "while deletion is tried again by itself")
	again := t.Remove(1)
	t.Control(again.ID, app.ControlCancel, "")
	if o := t.Operation("web-1", again.ID); o.Status != app.OperationCancelled {
		t.Fatalf("the second delete is %s", o.Status)
	}
	expired(1, "after deletion that followed the failed one was cancelled")
}
