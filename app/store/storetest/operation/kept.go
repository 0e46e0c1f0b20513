package operation

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/quarantine"
	"muster/app/store/storetest/kit"
)

// keptOf is the machine of a node of the cluster web-1 as it is to be kept, under a number.
func (t *storeTest) keptOf(node string, number int) cluster.KeptMachine {
	id := fmt.Sprintf("web-%s-kept-%d", node, number)
	n := apptest.NewCluster(kit.Tenant, id, 1, t.Clock.Now(), plan.Plan{Kind: app.OperationCreate,
		Steps: []plan.Step{{ID: "n1.isolate", Node: "n1", Action: app.ActionIsolate, Rank: time.Second}}})
	c := &n.Cluster
	c.ID, c.Name, c.ExpiresAt, c.KeptFrom, c.KeptNode, c.KeptReason = id, id, t.Clock.Now().Add(time.Hour), "web-1", node, node+".web.install failed"
	n.Operation.Operation.Cluster = id
	for i := range n.Nodes {
		n.Nodes[i].Node.Cluster, n.Nodes[i].Intent = id, "next-"+id
	}
	return cluster.KeptMachine{NewCluster: n, HostKey: []byte("next key"), Frees: true}
}

func (t *storeTest) keep() {
	t.Create("web", 2)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.Action == app.ActionCreate {
			t.Finish(c, false)
		} else {
			t.FailStep(c, app.Retry{})
		}
	}
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	was, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	undo := func(keep ...cluster.KeptMachine) error {
		_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(2), Keep: keep, Operation: app.Operation{Tenant: kit.Tenant,
			Cluster: "web-1", Kind: app.OperationRollBack, RollsBack: ops[0].ID, Requester: "ada", CreatedAt: t.Clock.Now()}})
		return err
	}
	// What can't be kept has nothing happen at all.
	if err := undo(t.keptOf("n2", 7), t.keptOf("n3", 8)); app.AsError(err).Reason != quarantine.ReasonGone || !quarantine.Refused(err) {
		t.Errorf("a node without a machine is kept: %v", err)
	}
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	if n, err := t.Store.KeptCount(t.Ctx, kit.Tenant); n != 0 || err != nil {
		t.Errorf("%d are kept (%v)", n, err)
	}

	t.Must(undo(t.keptOf("n2", 7)))
	live, err := t.Store.IntentsOf(t.Ctx, "cloud")
	t.Must(err)
	if i := live["t1-web-n2"]; i.Cluster != "web-n2-kept-7" || i.Node != "n1" || i.Machine != was[1].MachineID || live["next-web-n2-kept-7"].Cluster != "web-1" {
		t.Errorf("live intents are %+v", live)
	}
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	t.Status("web-n2-kept-7", app.ClusterActive, app.OperationSucceeded)
	list, err := t.Store.KeptMachines(t.Ctx, kit.Tenant, nil, "web-1", 10)
	t.Must(err)
	if len(list) != 1 || list[0].ID != "web-n2-kept-7" || list[0].MachineID != was[1].MachineID || list[0].FromName != "web" || !list[0].FromDeleted ||
		list[0].KeptReason != "n2.web.install failed" || list[0].Address != "10.0.0.1" {
		t.Errorf("kept is %+v", list)
	}
	for _, reader := range []app.ClusterReader{{Tenant: kit.Tenant, User: "eve"}, {Tenant: "other", User: "ada"}} {
		if list, err := t.Store.KeptMachines(t.Ctx, reader.Tenant, &reader, "", 10); err != nil || slices.ContainsFunc(list, func(m quarantine.Machine) bool {
			return m.Visibility != app.VisibleTenant || m.Tenant != reader.Tenant
		}) {
			t.Errorf("%s of %s sees %+v (%v)", reader.User, reader.Tenant, list, err)
		}
	}
	of, err := t.Store.AssignedIntents(t.Ctx, []string{"web-1"})
	t.Must(err)
	if of["t1-web-n2"] != "web-n2-kept-7" {
		t.Errorf("the machine may be taken for one of the deleted cluster: %v", of)
	}
	secrets, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, "web-n2-kept-7")
	t.Must(err)
	if len(secrets.PrivateKey) == 0 {
		t.Error("no key opens the kept machine")
	}
	expired, err := t.Store.ExpiredClusters(t.Ctx, t.Clock.Now().Add(2*time.Hour), 10)
	t.Must(err)
	if len(expired) != 1 || expired[0].ID != "web-n2-kept-7" {
		t.Errorf("expired are %+v", expired)
	}
}

// A cluster's kept machines end with it.
func (t *storeTest) keptEndsWithCluster() {
	t.Create("web", 2)
	t.Drain()
	k := t.keptOf("n2", 7)
	k.Frees = false
	_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(1), Keep: []cluster.KeptMachine{k},
		Operation: app.Operation{Tenant: kit.Tenant,
			Cluster: "web-1", Kind: app.OperationRepair, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	t.Drain()
	expired, err := t.Store.ExpiredClusters(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(expired) != 0 {
		t.Errorf("expired already: %+v", expired)
	}
	t.Remove(2)
	expired, err = t.Store.ExpiredClusters(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(expired) != 1 || expired[0].ID != "web-n2-kept-7" {
		t.Errorf("expired are %+v", expired)
	}
}

// A tenant keeps so many and no more.
func (t *storeTest) keptBound() {
	t.Create("web", quarantine.MostKept+1)
	t.Drain()
	var all []cluster.KeptMachine
	for i := range quarantine.MostKept + 1 {
		all = append(all, t.keptOf(app.NodeName(i+1), i+7))
	}
	repair := func(keep []cluster.KeptMachine) error {
		_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(1), Keep: keep, Operation: app.Operation{Tenant: kit.Tenant,
			Cluster: "web-1", Kind: app.OperationRepair, Requester: "ada", CreatedAt: t.Clock.Now()}})
		return err
	}
	if err := repair(all); app.AsError(err).Reason != quarantine.ReasonFull || !quarantine.Refused(err) {
		t.Errorf("more than may be are kept: %v", err)
	}
	t.Must(repair(all[1:]))
	if n, err := t.Store.KeptCount(t.Ctx, kit.Tenant); n != quarantine.MostKept || err != nil {
		t.Errorf("%d are kept (%v)", n, err)
	}
}
