package update

import (
	"reflect"

	"muster/app"
	"muster/app/cluster"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/webhook"
)

// hookVetoesUpdate: an update that a hook does not let happen, or that a person calls off while it waits, leaves its cluster
// just as it was.
func (t *storeTest) hookVetoesUpdate() {
	t.stands(3)
	t.OperationHook("cmdb", template.HookBefore)
	look := func() (cluster.View, cluster.Definition, []policy.Reservation) {
		v, err := t.Store.View(t.Ctx, kit.Tenant, "web-1")
		t.Must(err)
		v.Operations = nil
		d, err := t.Store.Definition(t.Ctx, kit.Tenant, "web-1")
		t.Must(err)
		r, err := t.Store.Reservations(t.Ctx, kit.Tenant)
		t.Must(err)
		return v, d, r
	}
	was, definition, reserved := look()
	for _, end := range []func(app.Operation, webhook.DueDelivery){
		func(_ app.Operation, d webhook.DueDelivery) { t.Vetoed(d, "no") },
		func(o app.Operation, _ webhook.DueDelivery) { t.Control(o.ID, app.ControlCancel, "") },
	} {
		c := t.Change("web-1")
		c.Template, c.Size, c.CostPerHour, c.Services = "other", 3, 9, []string{"a", "b", "c"}
		c.Definition.Config = map[string]any{"port": "81"}
		c.Definition.Hooks = nil
		c.New, c.Leaving, c.Nodes = []app.NewNode{kit.NewNode("web-1", "n4", "intent-4")}, []string{"n1"}, map[string][]string{"n2": {"a", "b", "c"}}
		c.Reservation = policy.Reservation{Tenant: kit.Tenant, Cluster: "web-1", Owner: "ada", Nodes: 7, CostPerHour: 9}
		op := t.Update("web-1", kit.Steps(app.OperationResize, "n4.create", "n1.delete"), c)
		if op.Status != app.OperationWaiting {
			t.Fatalf("the update is %s", op.Status)
		}
		end(op, t.News("cmdb: web: before the resize")["cmdb"])
		if o := t.Operation("web-1", op.ID); o.Status != app.OperationCancelled {
			t.Fatalf("the update is %s", o.Status)
		}
		v, d, r := look()
		if !reflect.DeepEqual(v, was) {
			t.Errorf("the cluster is\n%+v\nand was\n%+v", v, was)
		}
		if !reflect.DeepEqual(d, definition) {
			t.Errorf("the definition is\n%+v\nand was\n%+v", d, definition)
		}
		if len(r) != 1 || r[0].Nodes != reserved[0].Nodes || r[0].CostPerHour != reserved[0].CostPerHour {
			t.Errorf("reserved is\n%+v\nand was\n%+v", r, reserved)
		}
		if t.Claim("w") != nil {
			t.Fatal("a step of what does not happen was handed out")
		}
	}
	// What comes next is on the cluster as it is, and its nodes can have the same names.
	c := t.Change("web-1")
	c.Size, c.New = 4, []app.NewNode{kit.NewNode("web-1", "n4", "intent-5")}
	t.Update("web-1", kit.Steps(app.OperationResize, "n4.create", "n4.confirm"), c)
	t.Must(t.Ended("x", t.News("cmdb: web: before the resize")["cmdb"], "", 0))
	t.CarryOut("")
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready, n4 ready")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}
