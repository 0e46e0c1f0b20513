package jobs_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// TestAdviceCanBeFollowed: what a failed step advises is possible in the state in which it's shown. Each error that a person has to do
// something about fails a create, and each act that its advice names is carried out.
func TestAdviceCanBeFollowed(t *testing.T) {
	acts := map[string]func(e *engine, id string) (any, error){
		"resume": func(e *engine, id string) (any, error) {
			return e.app.Operation.Controls.ResumeOperation(e.ctx, e.admin, id, 0)
		},
		"roll back": func(e *engine, id string) (any, error) {
			return e.app.Operation.RollBacks.RollBack(e.ctx, e.admin, id, 0, "", "")
		},
		"delete": func(e *engine, id string) (any, error) {
			return e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, id)
		},
		"repair": func(e *engine, id string) (any, error) {
			return e.app.Operation.Updates.Update(e.ctx, e.admin, id, cluster.Update{Kind: app.OperationRepair})
		},
		"configuration": func(e *engine, id string) (any, error) {
			return e.app.Operation.Updates.Update(e.ctx, e.admin, id, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"colour": "blue"}})
		},
	}
	e := newEngine(t, nil)
	followed := 0
	for _, err := range []*app.Error{{Code: app.ECredentials}, {Code: app.EQuota}, {Code: app.EInvalid}, {Code: app.ENotFound}, {Code: app.EUnauthorized}, {Code: app.EForbidden},
		{Code: app.EHostKey}, {Code: app.EScript, Reason: "unhealthy"}} {
		for name, act := range acts {
			failure := *err
			failure.Message = "It went wrong."
			e.cloud.Order(fake.Create, fake.Outcome{Err: &failure, Node: "n1"})
			v := e.await(e.create(2).ID)
			e.want(v, app.ClusterFailed)
			if len(v.Problem.Failures) != 1 {
				t.Fatalf("%s: %+v", err.Code, v.Problem)
			}
			said := v.Problem.Failures[0].Error
			if said == failure.Message {
				t.Errorf("%s: nothing is advised", err.Code)
			}
			if !strings.Contains(strings.ToLower(said), name) {
				e.delete(v.ID)
				continue
			}
			if _, err := act(e, v.ID); err != nil {
				t.Errorf("%q advises to %s, and that is refused: %v", said, name, err)
				e.delete(v.ID)
				continue
			}
			followed++
			if v = e.await(v.ID); v.Status == app.ClusterDeleted {
				continue
			}
			e.want(v, app.ClusterActive)
			e.delete(v.ID)
		}
	}
	if followed < 8 {
		t.Errorf("only %d pieces of advice were followed", followed)
	}
	if n := e.machines(); n > 0 {
		t.Errorf("%d machines are left", n)
	}
}

// TestLostMachinesOfAFailedClusterAreNoticed: also where an operation has failed, the reconciler finds which machines are gone, and only
// ways on are offered that can work without them.
func TestLostMachinesOfAFailedClusterAreNoticed(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.EQuota, Message: "Full."}, Node: "n4"})
	if _, err := e.app.Operation.Updates.Update(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationResize, Size: 4}); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterFailed)
	e.cloud.Vanish(v.Nodes[1].MachineID)
	defer e.reconciler(func(r *reconcile.Reconciler) {})()
	e.comesAbout("the machine is noticed to be gone", func() bool {
		v = e.await(v.ID)
		return len(v.Problem.Lost) == 1 && v.Problem.Lost[0] == "n2"
	})
	if v.Problem.Options[0].Kind != cluster.RecoveryRepair {
		t.Errorf("the ways are %+v", v.Problem.Options)
	}
	if _, err := e.app.Operation.Updates.Update(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationRepair}); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	if len(v.Nodes) != 4 || e.machines() != 4 || v.Nodes[1].Lost() {
		t.Errorf("%d nodes on %d machines: %+v", len(v.Nodes), e.machines(), v.Nodes[1])
	}
}
