package execution_test

import (
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/execution"
)

// A cancel reaches the workers inside a server at once, and no one of another tenant.
func TestCancelSignalsWorkersOfTheTenant(t *testing.T) {
	o := harness.NewBare(t)
	n := apptest.NewCluster("t1", "c-t1", 1, o.Clock.Now(), apptest.Chain(1))
	_, err := o.Store.CreateCluster(t.Context(), n)
	o.Must(err)
	hear := func(tenant, asked string) <-chan struct{} {
		h, ok := o.Services.Fleet.Registries.CoordinatorOf("local:x", tenant).(execution.CancelSignaler)
		if !ok {
			t.Fatal("the workers inside a server don't learn of a cancel")
		}
		notified, stop := h.CancelSignal(app.WorkerID{Tenant: asked, Name: "local:x:1"})
		t.Cleanup(stop)
		return notified
	}
	own, other := hear("t1", "t1"), hear("t2", "t1")
	_, err = o.Services.Operation.Controls.CancelOperation(t.Context(), app.Actor{Tenant: "t1", User: "ada", Role: app.RoleAdmin}, n.Cluster.ID, 0, false)
	o.Must(err)
	select {
	case <-own:
	default:
		t.Error("no one was notified")
	}
	select {
	case <-other:
		t.Error("a worker of another tenant was notified")
	default:
	}
}
