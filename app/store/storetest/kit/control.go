package kit

import (
	"strings"

	"muster/app"
	"muster/app/apptest"
	appcluster "muster/app/cluster"
	"muster/app/plan"
)

// Control carries out an act as ada, and fails the test where it is not taken.
func (t *T) Control(op int64, act app.ControlAct, node string) app.Operation {
	t.Helper()
	o, err := t.TryControl(op, act, node)
	t.Must(err)
	return o
}

func (t *T) TryControl(op int64, act app.ControlAct, node string) (app.Operation, error) {
	return t.Store.ControlOperation(t.Ctx, app.Control{Tenant: Tenant, Operation: op, Act: act, Node: node, Who: "ada", Why: "to look at it", Now: t.Clock.Now()})
}

func (t *T) Submit(kind app.OperationKind, cluster string, p plan.Plan, cancel bool) app.Operation {
	t.Helper()
	op, err := t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Plan: p, Cancel: cancel, Operation: app.Operation{Tenant: Tenant, Cluster: cluster, Kind: kind,
		Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	return op
}

func (t *T) Operation(cluster string, id int64) app.Operation {
	t.Helper()
	ops, err := t.Store.Operations(t.Ctx, Tenant, cluster)
	t.Must(err)
	for _, o := range ops {
		if o.ID == id {
			return o
		}
	}
	t.Fatalf("cluster %s has no operation %d", cluster, id)
	return app.Operation{}
}

func (t *T) States(op int64) string {
	t.Helper()
	steps, err := t.Store.Steps(t.Ctx, Tenant, op)
	t.Must(err)
	var all []string
	for _, s := range steps {
		all = append(all, s.ID+" "+string(s.State))
	}
	return strings.Join(all, ", ")
}

func (t *T) Remove(nodes int) app.Operation {
	t.Helper()
	op, err := t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Plan: apptest.Remove(nodes), Cancel: true, Operation: app.Operation{Tenant: Tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	return op
}
