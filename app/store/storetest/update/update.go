package update

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// Updates are what every store makes of updates of active clusters.
var Updates = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a cluster grows", (*storeTest).grows},
	{"a cluster shrinks, and the nodes are gone for good", (*storeTest).shrinks},
	{"a machine is recreated under the same name and host key", (*storeTest).replaces},
	{"an update is held to what it was planned on", (*storeTest).follows},
	{"the greater of before and after is reserved until the end", (*storeTest).reservesGreater},
	{"a failed growth is rolled back to what was", (*storeTest).rollsGrowthBack},
	{"a shrink that went halfway is rolled back with recreated machines", (*storeTest).rollsShrinkBack},
	{"a rollback of an update deletes all that was begun", (*storeTest).rollBackLeavesNone},
	{"a cluster of one node outlives the rollback of its repair", (*storeTest).oneNode},
	{"definitions stay those of their operations", (*storeTest).definitions},
	{"an operation without steps ends at once", (*storeTest).noSteps},
	{"a lost cluster that was repaired is active", (*storeTest).repairsLost},
	{"a deletion takes over from an update", (*storeTest).deletesUpdated},
	{"an update that a hook vetoes leaves its cluster as it was", (*storeTest).hookVetoesUpdate},
	{"a failed create is gone on with once", (*storeTest).goesOn},
	{"that it cannot be gone on with is noted once for each failure", (*storeTest).judgesPartial},
	{"what cannot be gone on with is rolled back where that was wanted", (*storeTest).goesOnOrBack},
	{"an accepted partial result that a hook vetoes leaves all as it was", (*storeTest).hookVetoesAcceptPartial},
	{"what a cluster lacks is asked for until it has come", (*storeTest).topsUp},
	{"a resize by hand ends a backfill", (*storeTest).backfillEndsByHand},
	{"a backfill goes with its cluster", (*storeTest).backfillEndsWithCluster},
	{"random updates, failures and rollbacks leave nothing behind", (*storeTest).updatesAtRandom},
})

func (t *storeTest) grows() {
	t.stands(2)
	c := t.Change("web-1")
	c.Size, c.CostPerHour, c.Services = 4, 0.5, []string{"a", "b", "c"}
	c.Definition.Config = map[string]any{"port": "81"}
	c.New = []app.NewNode{kit.NewNode("web-1", "n3", "i3"), kit.NewNode("web-1", "n4", "i4")}
	c.Nodes = map[string][]string{"n1": {"a", "b", "c"}}
	op := t.Update("web-1", kit.Steps(app.OperationResize, "n3.create", "n3.confirm", "n4.create", "n4.confirm", "n1.c.start"), c)
	if op.Status != app.OperationRunning {
		t.Fatalf("the operation is %s", op.Status)
	}
	t.Status("web-1", app.ClusterPending, app.OperationRunning)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 planned, n4 planned")
	got, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if got.Size != 4 || got.CostPerHour != 0.5 || len(got.Services) != 3 {
		t.Errorf("the cluster is %+v", got)
	}
	d, err := t.Store.Definition(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if d.Config["port"] != "81" {
		t.Errorf("the configuration is %v", d.Config)
	}
	first := t.Claim("w")
	if first.Intent != "i3" || string(first.HostKey) != "host key of n3" || !first.Unasked {
		t.Errorf("creation is handed intent %q, host key %q, unasked %v", first.Intent, first.HostKey, first.Unasked)
	}
	t.Confirm(first, false)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready, n4 ready")
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if fmt.Sprint(nodes[0].Services, nodes[1].Services, nodes[3].Services) != "[a b c] [a b] [a]" {
		t.Errorf("the services are %v, %v and %v", nodes[0].Services, nodes[1].Services, nodes[3].Services)
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.resize"})
	t.Must(err)
	if len(entries) != 1 || entries[0].Who != "ada" || !strings.Contains(entries[0].Detail, `"nodes":2`) || !strings.Contains(entries[0].Detail, `"nodes":4`) {
		t.Errorf("the audit says %+v", entries)
	}
	events, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	if !slices.ContainsFunc(events, func(e app.Event) bool { return e.Kind == app.EventNode && e.Node == "n4" && e.Status == "planned" }) {
		t.Error("no one is notified of the new node")
	}
}

func (t *storeTest) shrinks() {
	t.stands(4)
	c := t.Change("web-1")
	c.Size, c.Leaving = 2, []string{"n3", "n4"}
	t.Update("web-1", kit.Steps(app.OperationResize, "n3.a.stop", "n3.delete", "n4.delete"), c)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready leaving, n4 ready leaving")
	t.CarryOut("n4.delete")
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 deleted leaving, n4 ready leaving")
	t.Control(t.Latest("web-1").ID, app.ControlResume, "")
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 ready, n2 ready")
	had, err := t.Store.Resources(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	gone := 0
	for _, r := range had {
		if !r.DeletedAt.IsZero() {
			gone++
		}
	}
	if len(had) != 4 || gone != 2 {
		t.Errorf("of %d machines %d are gone, want 2 of 4", len(had), gone)
	}
	if live, err := t.Store.IntentsOf(t.Ctx, "cloud"); err != nil || len(live) != 2 {
		t.Errorf("live intents: %+v (%v)", live, err)
	}
	// Names can be used again.
	c = t.Change("web-1")
	c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n3", "again")}
	t.Update("web-1", kit.Steps(app.OperationResize, "n3.create", "n3.confirm"), c)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 planned")
	t.CarryOut("")
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready")
	// And the delete of all knows of no other nodes.
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(3), true)
	t.CarryOut("")
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 deleted, n2 deleted, n3 deleted")
	if live, err := t.Store.IntentsOf(t.Ctx, "cloud"); err != nil || len(live) != 0 {
		t.Errorf("live intents: %+v (%v)", live, err)
	}
}

func (t *storeTest) replaces() {
	t.stands(2)
	before, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	t.Update("web-1", kit.Steps(app.OperationRepair, "n1.delete", "n1.create", "n1.confirm", "n2.a.reload"), t.Change("web-1"))
	// The worker that gave the machine back continues with the same node, in the same answer.
	gone := t.Claim("w")
	if gone.Node.MachineID != before[0].MachineID {
		t.Fatalf("deletion is of machine %q, want %q", gone.Node.MachineID, before[0].MachineID)
	}
	c := t.Confirm(gone, true)
	if c == nil || c.Step.ID != "n1.create" {
		t.Fatalf("after deletion comes %+v", c)
	}
	if c.Intent == gone.Intent || c.Intent == "" || !c.Unasked {
		t.Errorf("the new machine is asked for as %q (unasked %v), the old one was %q", c.Intent, c.Unasked, gone.Intent)
	}
	if string(c.HostKey) != "host key of n1" {
		t.Errorf("the new machine gets the host key %q", c.HostKey)
	}
	if c.Node.MachineID != "" || len(c.Node.Addresses) != 0 || c.Node.HostKey != "" || c.Node.Hostname != before[0].Hostname {
		t.Errorf("the new machine begins as %+v", c.Node)
	}
	t.nodesAre("web-1", "n1 planned, n2 ready")
	if live := t.Intents(); len(live) != 2 || live[gone.Intent].Node != "" {
		t.Errorf("live intents: %+v", live)
	}
	// A worker that dies now has perhaps asked: the next one looks for it, under the same intent.
	t.Clock.Move(2 * execution.ClaimFor)
	_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	again := t.Claim("w2")
	if again == nil || again.Intent != c.Intent || again.Unasked || string(again.HostKey) != "host key of n1" {
		t.Fatalf("the next attempt is %+v", again)
	}
	t.Confirm(again, false)
	t.nodesAre("web-1", "n1 created, n2 ready")
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if n := nodes[0]; n.MachineID == before[0].MachineID || n.HostKey != before[0].HostKey || n.Address(app.AddressBind) != "at "+n.MachineID {
		t.Errorf("the node is now %+v, was %+v", n, before[0])
	}
	had, err := t.Store.Resources(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if len(had) != 3 || had[0].DeletedAt.IsZero() || !had[1].DeletedAt.IsZero() || !had[2].DeletedAt.IsZero() || had[2].Node != "n1" {
		t.Errorf("the receipt has %+v", had)
	}
	if ended, known, err := t.Store.IntentKnown(t.Ctx, "cloud", gone.Intent); err != nil || !known || !ended {
		t.Errorf("the old intent: ended %v, known %v (%v)", ended, known, err)
	}
}

func (t *storeTest) follows() {
	created := t.Create("web", 1)
	restart := kit.Steps(app.OperationRestart, "n1.a.start")
	_, err := t.TryUpdate("web-1", restart, t.Change("web-1"), created.ID)
	t.refused(err, "operation_running")
	t.CarryOut("")
	first := t.Update("web-1", restart, t.Change("web-1"))
	t.CarryOut("")
	_, err = t.TryUpdate("web-1", restart, t.Change("web-1"), created.ID)
	t.refused(err, "plan_changed")
	// What is called off before it began has changed nothing.
	t.Update("web-1", restart, t.Change("web-1"))
	waits := t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), false)
	t.Control(waits.ID, app.ControlCancel, "")
	_, err = t.TryUpdate("web-1", restart, t.Change("web-1"), first.ID)
	t.refused(err, "operation_running")
	t.CarryOut("")
	if _, err = t.TryUpdate("web-1", restart, t.Change("web-1"), waits.ID-1); err != nil {
		t.Fatalf("behind an operation that was called off: %v", err)
	}
	t.CarryOut("")
	c := t.Change("web-1")
	c.New = []app.NewNode{kit.NewNode("web-1", "n1", "twice")}
	_, err = t.TryUpdate("web-1", restart, c, t.Latest("web-1").ID)
	t.refused(err, "plan_changed")
	c = t.Change("web-1")
	c.Leaving = []string{"n7"}
	_, err = t.TryUpdate("web-1", restart, c, t.Latest("web-1").ID)
	t.refused(err, "plan_changed")
	c.Leaving, c.Nodes = nil, map[string][]string{"n8": {"a"}}
	_, err = t.TryUpdate("web-1", restart, c, t.Latest("web-1").ID)
	t.refused(err, "plan_changed")
	t.nodesAre("web-1", "n1 ready")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	// Another tenant has no such cluster.
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: restart, Change: &c,
		Operation: app.Operation{Tenant: "t2", Cluster: "web-1", Kind: app.OperationRestart,
			Requester: "eve", CreatedAt: t.Clock.Now()}})
	t.Code(err, app.ENotFound)
	if _, _, err := t.Store.ChangeOf(t.Ctx, "t2", first.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads what was changed: %v", err)
	}
	if _, err := t.Store.LeftBy(t.Ctx, "t2", "web-1", first.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads what an operation left: %v", err)
	}
	if _, err := t.Store.DefinitionAt(t.Ctx, "t2", "web-1", first.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads the definition: %v", err)
	}
}

// refused wants EConflict for a reason, with a way out.
func (t *storeTest) refused(err error, reason string) {
	t.Helper()
	if e := app.AsError(err); err == nil || e.Code != app.EConflict || e.Reason != reason || e.Hint == "" {
		t.Fatalf("refused as %v (%+v), want %s", err, err, reason)
	}
}

func (t *storeTest) reservesGreater() {
	t.Must(t.Store.SetQuota(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}, policy.Quota{Scope: policy.QuotaTenant,
		Limits: policy.Limits{}.With(policy.MeasureNodes, 4), ChangedAt: t.Clock.Now(), ChangedBy: "boss"}))
	t.stands(2)
	t.ReservedIs(2, 0.25)
	c := t.Change("web-1")
	c.Size, c.New = 5, []app.NewNode{kit.NewNode("web-1", "n3", "i3"), kit.NewNode("web-1", "n4", "i4"), kit.NewNode("web-1", "n5", "i5")}
	c.Reservation = policy.Reservation{Nodes: 5, CostPerHour: 2}
	_, err := t.TryUpdate("web-1", kit.Steps(app.OperationResize, "n3.create", "n4.create", "n5.create"), c, t.Latest("web-1").ID)
	t.Code(err, app.EQuota)
	t.nodesAre("web-1", "n1 ready, n2 ready") // nothing of it was written
	t.ReservedIs(2, 0.25)
	c.Size, c.New, c.Reservation = 4, c.New[:2], policy.Reservation{Nodes: 4, CostPerHour: 2}
	t.Update("web-1", kit.Steps(app.OperationResize, "n3.create", "n3.confirm", "n4.create", "n4.confirm"), c)
	t.ReservedIs(4, 2)
	t.CarryOut("n4.confirm")
	t.ReservedIs(4, 2) // it failed, and what it made may be there
	t.Control(t.Latest("web-1").ID, app.ControlResume, "")
	t.CarryOut("")
	t.ReservedIs(4, 2)
	c = t.Change("web-1")
	c.Size, c.CostPerHour, c.Leaving, c.Reservation = 1, 3, []string{"n2", "n3", "n4"}, policy.Reservation{Nodes: 1, CostPerHour: 3}
	t.Update("web-1", kit.Steps(app.OperationResize, "n2.delete", "n3.delete", "n4.delete"), c)
	t.ReservedIs(4, 3) // fewer, and dearer
	t.CarryOut("")
	t.ReservedIs(1, 3)
	t.Update("web-1", kit.Steps(app.OperationRestart, "n1.a.start"), t.Change("web-1"))
	t.CarryOut("")
	t.ReservedIs(1, 3) // a change that says nothing of it leaves it
	// What failed is brought to its end by a repair that changes nothing itself.
	c = t.Change("web-1")
	c.Size, c.New, c.Reservation = 2, []app.NewNode{kit.NewNode("web-1", "n5", "i5")}, policy.Reservation{Nodes: 2, CostPerHour: 4}
	t.Update("web-1", kit.Steps(app.OperationResize, "n5.create", "n5.confirm"), c)
	t.CarryOut("")
	c = t.Change("web-1")
	c.Size, c.Leaving, c.Reservation = 1, []string{"n5"}, policy.Reservation{Nodes: 1, CostPerHour: 2}
	t.Update("web-1", kit.Steps(app.OperationResize, "n5.delete", "n1.a.start"), c)
	t.CarryOut("n1.a.start")
	t.ReservedIs(2, 4)
	t.nodesAre("web-1", "n1 ready, n5 deleted leaving")
	t.Submit(app.OperationRepair, "web-1", kit.Steps(app.OperationRepair, "n1.delete", "n1.create", "n1.confirm"), false)
	t.CarryOut("")
	t.ReservedIs(1, 2)
	t.nodesAre("web-1", "n1 ready")
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), true)
	t.CarryOut("")
	all, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	if len(all) != 0 {
		t.Errorf("after the end %+v is reserved", all)
	}
}

func (t *storeTest) oneNode() {
	t.stands(1)
	t.Update("web-1", kit.Steps(app.OperationRepair, "n1.delete", "n1.create", "n1.confirm"), t.Change("web-1"))
	t.CarryOut("n1.confirm")
	_, err := t.Undo("web-1", kit.Back)
	t.refused(err, "plan_changed")
	_, err = t.Undo("web-1", kit.Back, "n1.delete")
	t.Must(err)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 planned")
	if live := t.Intents(); len(live) != 0 {
		t.Errorf("live intents: %+v", live)
	}
	t.Update("web-1", kit.Steps(app.OperationRepair, "n1.delete", "n1.create", "n1.confirm"), t.Change("web-1"))
	t.CarryOut("")
	t.nodesAre("web-1", "n1 ready")
}

func (t *storeTest) definitions() {
	t.stands(1)
	ids := []int64{t.Latest("web-1").ID}
	for i := range 4 {
		c := t.Change("web-1")
		if i != 1 { // the second leaves it as it is
			c.Definition.Config = map[string]any{"round": fmt.Sprint(i)}
		}
		ids = append(ids, t.Update("web-1", kit.Steps(app.OperationReconfigure, "n1.a.configure"), c).ID)
		if i == 3 {
			t.CarryOut("n1.a.configure")
			op, err := t.Undo("web-1", kit.Back, "n1.a.configure")
			t.Must(err)
			ids = append(ids, op.ID)
		}
		t.CarryOut("")
	}
	var got []string
	for _, id := range ids {
		d, err := t.Store.DefinitionAt(t.Ctx, kit.Tenant, "web-1", id)
		t.Must(err)
		got = append(got, fmt.Sprint(d.Config))
	}
	want := "[map[port:80] map[round:0] map[round:0] map[round:2] map[round:3] map[round:2]]"
	if fmt.Sprint(got) != want {
		t.Errorf("the operations were carried out by\n%v, want\n%v", got, want)
	}
	before, after, err := t.Store.ChangeOf(t.Ctx, kit.Tenant, ids[2])
	t.Must(err)
	if before.Definition.Config["round"] != "0" || after.Definition.Config["round"] != "0" {
		t.Errorf("what changed nothing goes from %v to %v", before.Definition.Config, after.Definition.Config)
	}
	_, _, err = t.Store.ChangeOf(t.Ctx, kit.Tenant, ids[0])
	t.Code(err, app.ENotFound)
}

func (t *storeTest) noSteps() {
	t.stands(2)
	c := t.Change("web-1")
	c.Definition.Config = map[string]any{"note": "not read by anybody"}
	op := t.Update("web-1", plan.Plan{Kind: app.OperationReconfigure}, c)
	if op.Status != app.OperationSucceeded || op.StartedAt.IsZero() || op.EndedAt.IsZero() {
		t.Fatalf("the operation is %+v", op)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	// What leaves without a step was never made: such a node is gone at once.
	c = t.Change("web-1")
	c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n3", "i3")}
	t.Update("web-1", kit.Steps(app.OperationResize, "n1.a.stop", "n3.create"), c)
	t.CarryOut("n1.a.stop")
	op, err := t.Undo("web-1", kit.Back)
	t.Must(err)
	if op.Status != app.OperationSucceeded {
		t.Fatalf("the rollback is %+v", op)
	}
	t.nodesAre("web-1", "n1 ready, n2 ready")
	if live := t.Intents(); len(live) != 2 {
		t.Errorf("live intents: %+v", live)
	}
	// But one whose machine may be there stays to be seen, whatever the plan said.
	c = t.Change("web-1")
	c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n3", "i3b")}
	t.Update("web-1", kit.Steps(app.OperationResize, "n3.create"), c)
	t.CarryOut("n3.create")
	c = t.Change("web-1")
	c.Size, c.Leaving = 2, []string{"n3"}
	t.Update("web-1", plan.Plan{Kind: app.OperationResize}, c)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 planned leaving")
	if live := t.Intents(); len(live) != 3 {
		t.Errorf("live intents: %+v", live)
	}
}

func (t *storeTest) repairsLost() {
	t.stands(2)
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "Lost machines: n2.", t.Clock.Now()))
	t.Status("web-1", app.ClusterFailed, app.OperationSucceeded)
	t.Clock.Move(time.Minute)
	t.Update("web-1", kit.Steps(app.OperationRepair, "n2.delete", "n2.create", "n2.confirm"), t.Change("web-1"))
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "Lost machines: n2, again.", t.Clock.Now()))
	t.Status("web-1", app.ClusterPending, app.OperationRunning)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	all, err := t.Store.ComparedClusters(t.Ctx, []string{"web-1"})
	t.Must(err)
	if len(all) != 1 || all[0].Lost {
		t.Errorf("after the repair: %+v", all)
	}
	t.nodesAre("web-1", "n1 ready, n2 ready")
}
