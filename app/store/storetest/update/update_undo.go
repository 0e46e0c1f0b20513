package update

import (
	"fmt"
	"reflect"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) rollsGrowthBack() {
	t.stands(2)
	was, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	d, err := t.Store.Definition(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	c := t.Change("web-1")
	c.Template, c.Size, c.CostPerHour, c.Services = "web2", 4, 1, []string{"a"}
	c.Definition.Config = map[string]any{"port": "82"}
	c.New, c.Nodes = []app.NewNode{kit.NewNode("web-1", "n3", "i3"), kit.NewNode("web-1", "n4", "i4")}, map[string][]string{"n2": {"b"}}
	c.Reservation = policy.Reservation{Nodes: 4, CostPerHour: 1}
	grown := t.Update("web-1", kit.Steps(app.OperationResize, "n3.create", "n3.confirm", "n4.create"), c)
	t.CarryOut("n3.confirm")
	before, after, err := t.Store.ChangeOf(t.Ctx, kit.Tenant, grown.ID)
	t.Must(err)
	if before.Template != "web" || before.Size != 2 || before.CostPerHour != 0.25 || before.Reservation.Nodes != 2 || before.Definition.Config["port"] != "80" ||
		!reflect.DeepEqual(before.Nodes, map[string][]string{"n2": {"a", "b"}}) || len(before.New) != 0 || len(before.Leaving) != 0 {
		t.Errorf("before it was %+v", before)
	}
	if after.Template != "web2" || after.Size != 4 || after.Reservation.CostPerHour != 1 || after.Definition.Config["port"] != "82" ||
		!reflect.DeepEqual(after.Nodes, map[string][]string{"n2": {"b"}}) || len(after.New) != 2 || after.New[1].Node.Name != "n4" {
		t.Errorf("it was to become %+v", after)
	}
	_, err = t.Undo("web-1", kit.Back, "n3.delete")
	t.Must(err)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 created leaving, n4 planned leaving")
	t.ReservedIs(4, 1)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 ready, n2 ready")
	t.ReservedIs(2, 0.25)
	now, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if !reflect.DeepEqual(now, was) {
		t.Errorf("the cluster is %+v\nwas          %+v", now, was)
	}
	if got, err := t.Store.Definition(t.Ctx, kit.Tenant, "web-1"); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("the definition is %+v, was %+v (%v)", got, d, err)
	}
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if fmt.Sprint(nodes[1].Services) != "[a b]" {
		t.Errorf("n2 has %v", nodes[1].Services)
	}
	if live := t.Intents(); len(live) != 2 {
		t.Errorf("live intents: %+v", live)
	}
	if d, err := t.Store.DefinitionAt(t.Ctx, kit.Tenant, "web-1", grown.ID); err != nil || d.Config["port"] != "82" {
		t.Errorf("the growth was carried out by %v (%v)", d.Config, err)
	}
}

func (t *storeTest) rollsShrinkBack() {
	t.stands(3)
	c := t.Change("web-1")
	c.Size, c.Leaving = 1, []string{"n2", "n3"}
	t.Update("web-1", kit.Steps(app.OperationResize, "n2.delete", "n3.a.stop", "n3.delete"), c)
	t.CarryOut("n3.a.stop")
	t.nodesAre("web-1", "n1 ready, n2 deleted leaving, n3 ready leaving")
	before, _, err := t.Store.ChangeOf(t.Ctx, kit.Tenant, t.Latest("web-1").ID)
	t.Must(err)
	if !reflect.DeepEqual(before.Nodes, map[string][]string{"n2": {"a", "b"}, "n3": {"a", "b"}}) {
		t.Fatalf("before, the nodes had %v", before.Nodes)
	}
	_, err = t.Undo("web-1", kit.Back, "n2.create", "n2.confirm", "n3.a.start")
	t.Must(err)
	t.nodesAre("web-1", "n1 ready, n2 planned, n3 ready")
	c2 := t.Claim("w")
	if c2.Step.ID != "n2.create" || string(c2.HostKey) != "host key of n2" || !c2.Unasked || c2.Node.MachineID != "" {
		t.Fatalf("the rollback begins with %+v", c2)
	}
	t.Confirm(c2, false)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready")
}

func (t *storeTest) rollBackLeavesNone() {
	t.stands(1)
	c := t.Change("web-1")
	c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n2", "i2"), kit.NewNode("web-1", "n3", "i3")}
	t.Update("web-1", kit.Steps(app.OperationResize, "n2.create", "n2.confirm", "n3.create"), c)
	t.CarryOut("n3.create")
	_, err := t.Undo("web-1", kit.Back, "n2.delete")
	t.refused(err, "plan_changed") // n3 was begun to be made
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 planned")
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: kit.Steps(app.OperationRollBack, "n3.delete", "n2.delete"),
		Operation: app.Operation{Tenant: kit.Tenant,
			Cluster: "web-1", Kind: app.OperationRollBack, RollsBack: t.Latest("web-1").ID, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Code(err, app.EInternal) // it does not say what the cluster is then
	_, err = t.Undo("web-1", kit.Back, "n3.delete", "n2.delete")
	t.Must(err)
	t.CarryOut("")
	t.nodesAre("web-1", "n1 ready")
}

func (t *storeTest) deletesUpdated() {
	t.stands(2)
	c := t.Change("web-1")
	c.Size, c.New, c.Leaving = 2, []app.NewNode{kit.NewNode("web-1", "n3", "i3")}, []string{"n1"}
	op := t.Update("web-1", kit.Steps(app.OperationResize, "n3.create", "n1.delete"), c)
	running := t.Claim("w")
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(3), true)
	t.Confirm(running, false)
	t.CarryOut("")
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 deleted leaving, n2 deleted, n3 deleted")
	_, _, err := t.Store.ChangeOf(t.Ctx, kit.Tenant, op.ID)
	t.Code(err, app.ENotFound) // forgotten with the cluster
	if live := t.Intents(); len(live) != 0 {
		t.Errorf("live intents: %+v", live)
	}
	_, err = t.TryUpdate("web-1", kit.Steps(app.OperationRestart, "n2.a.start"), c, 0)
	t.Code(err, app.EConflict)
}
