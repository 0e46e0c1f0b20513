package apptest

import (
	"time"

	"muster/app"
)

// calledOff: what is called off before it began has changed nothing. So a create that a delete had stopped is rolled back
// after all, where that is what its requester wants of it.
func (t *storeTest) calledOff() {
	n := NewCluster(tenant, "web", 2, t.clock.Now(), Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	running := t.claim("w")
	due := func(want int, when string) {
		t.Helper()
		ops, err := t.s.RollBacksDue(t.ctx, 10)
		t.must(err)
		if len(ops) != want || want == 1 && ops[0].ID != op.ID {
			t.Fatalf("%s, to be rolled back is %+v, want %d", when, ops, want)
		}
	}
	first := t.remove(2)
	t.control(first.ID, app.ControlCancel, "")
	second := t.remove(2)
	t.fail(running, app.Retry{Again: true})
	if o := t.operation("web-1", second.ID); o.Status != app.OperationRunning {
		t.Fatalf("the second delete is %s", o.Status)
	}
	due(0, "while the second delete runs")

	// The same with nothing that follows.
	n = NewCluster(tenant, "db", 2, t.clock.Now(), Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	t.control(second.ID, app.ControlCancel, "")
	op, err = t.s.CreateCluster(t.ctx, n)
	t.must(err)
	running = t.claim("w")
	off := t.submit(app.OperationDelete, "db-1", Remove(2), true)
	if off.Status != app.OperationWaiting {
		t.Fatalf("the delete is %s while a step runs", off.Status)
	}
	t.control(off.ID, app.ControlCancel, "")
	due(0, "while a step runs")
	t.fail(running, app.Retry{Again: true})
	due(1, "after the delete was called off and the create has stopped")
}

// leaseAfterCalledOff: a delete that failed keeps a lease from being ended only as long as it is tried again by itself.
func (t *storeTest) leaseAfterCalledOff() {
	n := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	n.Cluster.ExpiresAt = t.clock.Now().Add(time.Hour)
	_, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.drain()
	t.clock.Move(2 * time.Hour)
	expired := func(want int, when string) {
		t.Helper()
		list, err := t.s.ExpiredClusters(t.ctx, t.clock.Now(), 10)
		t.must(err)
		if len(list) != want {
			t.Errorf("%s, %d leases are to be ended, want %d", when, len(list), want)
		}
	}
	expired(1, "after its time")
	t.remove(1)
	expired(0, "while it is deleted")
	t.fail(t.claim("w"), app.Retry{})
	expired(0, "while the delete is tried again by itself")
	again := t.remove(1)
	t.control(again.ID, app.ControlCancel, "")
	if o := t.operation("web-1", again.ID); o.Status != app.OperationCancelled {
		t.Fatalf("the second delete is %s", o.Status)
	}
	expired(1, "after the delete that followed the failed one was cancelled")
}
