package update

import (
	"reflect"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/webhook"
)

// shortOfOne makes a cluster "web-1" of three nodes, of which n3 does not come, that says what is to happen then.
func (t *storeTest) shortOfOne(choice app.FailureChoice) app.Operation {
	t.Helper()
	n := apptest.NewCluster(kit.Tenant, "web", 3, t.Clock.Now(), apptest.Chain(3))
	n.Operation.Operation.OnFailure, n.Operation.Operation.MinAvailable = choice, 2
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	if due, err := t.Store.PartialResultsDue(t.Ctx, 10); err != nil || len(due) != 0 {
		t.Fatalf("to be gone on with before it failed: %+v, %v", due, err)
	}
	t.CarryOut("n3.create")
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	return t.Latest("web-1")
}

// acceptPartial continues with two of three nodes.
func (t *storeTest) acceptPartial(of app.Operation, change ...func(*cluster.NewOperation)) (app.Operation, error) {
	t.Helper()
	c := t.Change("web-1")
	c.Size, c.CostPerHour, c.Leaving = 2, 0.2, []string{"n3"}
	c.Reservation = policy.Reservation{Tenant: kit.Tenant, Cluster: "web-1", Owner: "ada", Nodes: 2, CostPerHour: 0.2}
	p := kit.Steps(app.OperationAcceptPartial, "n3.delete", "n1.a.start", "n2.a.start")
	n := cluster.NewOperation{Plan: p, Change: &c, Follows: of.ID, AsOf: of.EndedAt, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: p.Kind,
		Accepts: of.ID, PlanHash: p.Hash(), Requester: "muster", CreatedAt: t.Clock.Now()}}
	for _, f := range change {
		f(&n)
	}
	return t.Store.SubmitOperation(t.Ctx, n)
}

func (t *storeTest) partialResultsDue(want ...int64) {
	t.Helper()
	due, err := t.Store.PartialResultsDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != len(want) {
		t.Fatalf("to be gone on with is %+v, want %v", due, want)
	}
	for i, o := range due {
		if o.ID != want[i] {
			t.Fatalf("to be gone on with is %d, want %d", o.ID, want[i])
		}
	}
}

// toldOwner wants the newest notices of the owner, the latest first.
func (t *storeTest) toldOwner(words ...string) {
	t.Helper()
	list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: "ada"}, 0, len(words))
	t.Must(err)
	for i, w := range words {
		if i >= len(list) || !strings.Contains(list[i].Title+" "+list[i].Text, w) {
			t.Fatalf("the owner was notified %+v, want %q", list, words)
		}
	}
}

// goesOn: a failed create is gone on with once, on what it was planned on, and what was reserved for lost nodes goes with them.
func (t *storeTest) goesOn() {
	of := t.shortOfOne(app.FailureAcceptPartial)
	if of.MinAvailable != 2 || of.OnFailure != app.FailureAcceptPartial {
		t.Errorf("creation is kept as %+v", of)
	}
	t.partialResultsDue(of.ID)
	_, err := t.acceptPartial(of, func(n *cluster.NewOperation) { n.AsOf = n.AsOf.Add(-time.Second) })
	t.refused(err, "plan_changed")
	_, err = t.acceptPartial(of, func(n *cluster.NewOperation) { n.Plan = kit.Steps(app.OperationAcceptPartial, "n1.a.start") })
	t.Code(err, app.EInternal) // n3 would be lost
	_, err = t.acceptPartial(of, func(n *cluster.NewOperation) { n.Change = nil })
	t.Code(err, app.EInternal)
	t.partialResultsDue(of.ID)
	op, err := t.acceptPartial(of)
	t.Must(err)
	if op.Accepts != of.ID || op.RollsBack != 0 || t.Latest("web-1").Accepts != of.ID {
		t.Errorf("the accepted partial result is %+v", op)
	}
	t.toldOwner("web continues with 2 of 3 nodes. No machine for n3. Muster will retry later.")
	t.partialResultsDue()
	_, err = t.acceptPartial(of) // another server's, a moment later
	t.Code(err, app.EConflict)
	if judged, err := t.Store.JudgePartial(t.Ctx, operation.PartialJudgement{Operation: of, Why: "Too late.", Now: t.Clock.Now()}); err != nil || judged {
		t.Errorf("what is gone on with was judged: %v, %v", judged, err)
	}
	t.ReservedIs(3, 0.25) // until it is given back
	if u, err := t.Store.BackfillOf(t.Ctx, kit.Tenant, "web-1"); err != nil || u != nil {
		t.Errorf("before it succeeded, the cluster lacks %+v, %v", u, err)
	}
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.nodesAre("web-1", "n1 ready, n2 ready")
	t.ReservedIs(2, 0.2)
	t.partialResultsDue()
	if live := t.Intents(); len(live) != 2 {
		t.Errorf("live intents: %+v", live)
	}
}

// judgesPartial: that it cannot be gone on with is noted once for each time that the operation fails.
func (t *storeTest) judgesPartial() {
	of := t.shortOfOne(app.FailureAcceptPartial)
	judge := func(o app.Operation, want bool) {
		t.Helper()
		if judged, err := t.Store.JudgePartial(t.Ctx, operation.PartialJudgement{Operation: o, Why: "No room.", Now: t.Clock.Now()}); err != nil || judged != want {
			t.Fatalf("judged: %v, %v; want %v", judged, err, want)
		}
	}
	other := of
	other.Tenant = "t2"
	judge(other, false)
	judge(of, true)
	judge(of, false)
	t.partialResultsDue()
	t.toldOwner("web can't continue with a partial result. Can't accept the partial result: No room.")
	if o := t.Latest("web-1"); !strings.HasSuffix(o.Message, "Can't accept the partial result: No room.") || o.OnFailure != app.FailureAcceptPartial {
		t.Errorf("the operation says %q, and then %q", o.Message, o.OnFailure)
	}
	t.Clock.Move(time.Minute)
	t.Control(of.ID, app.ControlResume, "")
	t.CarryOut("n3.create")
	judge(of, false) // as it was read before it ran again
	t.partialResultsDue(of.ID)
	_, err := t.acceptPartial(of)
	t.refused(err, "plan_changed")
	judge(t.Latest("web-1"), true)
	t.partialResultsDue()
	_, err = t.acceptPartial(t.Latest("web-1")) // a person can see it otherwise
	t.Must(err)
}

// goesOnOrBack: where it cannot be gone on with, what was to be rolled back then is.
func (t *storeTest) goesOnOrBack() {
	of := t.shortOfOne(app.FailureAcceptPartialOrRollBack)
	t.partialResultsDue(of.ID)
	if due, err := t.Store.RollBacksDue(t.Ctx, 10); err != nil || len(due) != 0 {
		t.Fatalf("to be rolled back before it is judged: %+v, %v", due, err)
	}
	judged, err := t.Store.JudgePartial(t.Ctx, operation.PartialJudgement{Operation: of, Why: "No room.", Now: t.Clock.Now()})
	if err != nil || !judged {
		t.Fatalf("judged: %v, %v", judged, err)
	}
	t.partialResultsDue()
	due, err := t.Store.RollBacksDue(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].ID != of.ID {
		t.Errorf("to be rolled back is %+v", due)
	}
}

// hookVetoesAcceptPartial: an accepted partial result that a hook which names it does not let happen leaves all as it was, and is not begun by itself again.
func (t *storeTest) hookVetoesAcceptPartial() {
	t.OperationHook("cmdb", template.HookBefore, func(c *webhook.EndpointChange) { c.Operations = &[]app.OperationKind{app.OperationAcceptPartial} })
	of := t.shortOfOne(app.FailureAcceptPartial)
	op, err := t.acceptPartial(of)
	t.Must(err)
	if op.Status != app.OperationWaiting {
		t.Fatalf("the accepted partial result is %s", op.Status)
	}
	t.Vetoed(t.News("cmdb: web: before accepting the partial result")["cmdb"], "no")
	t.Status("web-1", app.ClusterFailed, app.OperationCancelled)
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 planned")
	t.ReservedIs(3, 0.25)
	t.partialResultsDue()
}

// topsUp: what a cluster lacks is asked for again, later each time, until it has come or someone says that it is enough.
func (t *storeTest) topsUp() {
	_, err := t.acceptPartial(t.shortOfOne(app.FailureAcceptPartial))
	t.Must(err)
	t.CarryOut("")
	row := func() cluster.Backfill {
		t.Helper()
		u, err := t.Store.BackfillOf(t.Ctx, kit.Tenant, "web-1")
		if err != nil || u == nil {
			t.Fatalf("the cluster lacks %+v, %v", u, err)
		}
		return *u
	}
	due := func(at time.Time, want int) {
		t.Helper()
		list, err := t.Store.BackfillsDue(t.Ctx, at, 10)
		t.Must(err)
		if len(list) != want || want > 0 && (list[0].Cluster.ID != "web-1" || list[0].Backfill != row()) {
			t.Fatalf("due are %+v, want %d", list, want)
		}
	}
	first := t.Clock.Now().Add(operation.BackfillGap(0))
	if u := row(); u.Target != 3 || u.Off || !u.NextAt.Equal(first) || u.Tries != 0 {
		t.Fatalf("the cluster lacks %+v", u)
	}
	if u, err := t.Store.BackfillOf(t.Ctx, "t2", "web-1"); err != nil || u != nil {
		t.Errorf("another tenant sees %+v, %v", u, err)
	}
	due(first.Add(-time.Second), 0)
	due(first, 1)
	due(first.Add(-24*time.Hour), 1) // the clock was set back
	t.Clock.Move(operation.BackfillGap(0))
	note := operation.BackfillNote{Tenant: kit.Tenant, Cluster: "web-1", Now: t.Clock.Now(), Due: first.Add(time.Second), NextAt: first.Add(time.Hour), Tries: 1,
		Note: "no room",
		Tell: &app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: app.NoticeCluster, Cluster: "web-1", Users: []string{"ada"}, Title: "no room"}}
	for _, want := range []bool{false, true, false} { // read too early, just now, and by a server that was slower
		if noted, err := t.Store.NoteBackfill(t.Ctx, note); err != nil || noted != want {
			t.Fatalf("noted: %v, %v; want %v", noted, err, want)
		}
		note.Due = first
	}
	t.toldOwner("no room", "web continues with 2 of 3 nodes.") // once
	if u := row(); u.Note != "no room" || u.Tries != 1 || !u.NextAt.Equal(note.NextAt) || !u.LastTriedAt.Equal(note.Now) {
		t.Errorf("noted is %+v", u)
	}
	due(t.Clock.Now(), 0)
	set := func(o operation.BackfillOrder) error {
		return t.Store.SetBackfill(t.Ctx, operation.BackfillChange{BackfillOrder: o, Tenant: kit.Tenant, Cluster: "web-1", Who: kit.Ada, At: t.Clock.Now()})
	}
	t.Must(set(operation.BackfillOrder{Off: true}))
	if u := row(); !u.Off || !u.NextAt.IsZero() {
		t.Errorf("off is %+v", u)
	}
	t.Must(set(operation.BackfillOrder{}))
	if u := row(); u.Off || !u.NextAt.Equal(t.Clock.Now().Add(operation.BackfillGap(0))) {
		t.Errorf("on again is %+v", u)
	}
	t.Must(set(operation.BackfillOrder{Now: true}))
	due(t.Clock.Now(), 1)
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.backfill", Limit: 10})
	t.Must(err)
	if len(entries) != 3 || entries[0].Who != "ada" {
		t.Errorf("the audit tells %+v", entries)
	}
	// While the backfill runs nothing is due; that it failed is kept, and the next try comes later.
	grow := func(intent string) app.Operation {
		t.Helper()
		c, p := t.Change("web-1"), kit.Steps(app.OperationResize, "n3.create", "n3.confirm")
		c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n3", intent)}
		op, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: p, Change: &c, Follows: t.Latest("web-1").ID, Backfill: true,
			Operation: app.Operation{Tenant: kit.Tenant,
				Cluster: "web-1", Kind: p.Kind, PlanHash: p.Hash(), Requester: "ada", CreatedAt: t.Clock.Now()}})
		t.Must(err)
		return op
	}
	op := grow("again")
	if u := row(); u.Operation != op.ID || u.Tries != 1 || !u.NextAt.IsZero() || u.Note != "" {
		t.Errorf("while it is topped up: %+v", u)
	}
	t.refused(set(operation.BackfillOrder{Now: true}), "cluster_pending")
	due(t.Clock.Now().Add(24*time.Hour), 0)
	t.CarryOut("n3.create")
	if u := row(); u.Note == "" || !u.NextAt.Equal(t.Clock.Now().Add(operation.BackfillGap(1))) {
		t.Errorf("after a backfill that failed: %+v", u)
	}
	_, err = t.Undo("web-1", kit.Back, "n3.delete")
	t.Must(err)
	t.CarryOut("")
	due(t.Clock.Now().Add(operation.BackfillGap(1)), 1)
	grow("once more")
	t.CarryOut("")
	t.nodesAre("web-1", "n1 ready, n2 ready, n3 ready")
	t.toldOwner("web has all 3 nodes.")
	if u, err := t.Store.BackfillOf(t.Ctx, kit.Tenant, "web-1"); err != nil || u != nil {
		t.Errorf("a whole cluster lacks %+v, %v", u, err)
	}
	t.refused(set(operation.BackfillOrder{}), "nothing_missing")
}

// backfillEndsByHand: a resize by hand says how many nodes are wanted.
func (t *storeTest) backfillEndsByHand() {
	t.lacks(false)
	c := t.Change("web-1")
	c.Size, c.Leaving = 1, []string{"n2"}
	t.Update("web-1", kit.Steps(app.OperationResize, "n2.delete"), c)
	t.CarryOut("")
	t.lacksNothing()
}

// backfillEndsWithCluster: what goes takes with it what it lacks. Where no one wants the others, they are not asked for.
func (t *storeTest) backfillEndsWithCluster() {
	t.lacks(true)
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(2), true)
	t.CarryOut("")
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	t.lacksNothing()
}

// lacks continues with fewer nodes.
func (t *storeTest) lacks(noBackfill bool) {
	t.Helper()
	_, err := t.acceptPartial(t.shortOfOne(app.FailureAcceptPartial), func(n *cluster.NewOperation) { n.Operation.NoBackfill = noBackfill })
	t.Must(err)
	t.CarryOut("")
	if u, err := t.Store.BackfillOf(t.Ctx, kit.Tenant, "web-1"); err != nil || u == nil || u.Off != noBackfill || u.NextAt.IsZero() != noBackfill {
		t.Fatalf("the cluster lacks %+v, %v", u, err)
	}
}

func (t *storeTest) lacksNothing() {
	t.Helper()
	if u, err := t.Store.BackfillOf(t.Ctx, kit.Tenant, "web-1"); err != nil || u != nil {
		t.Fatalf("the cluster lacks %+v, %v", u, err)
	}
}

// unfinished counts what operations left undone as app does from their steps, and reads nothing of another tenant's.
func (t *storeTest) unfinished() {
	of := t.shortOfOne(app.FailureLeave)
	agree := func(want cluster.Unfinished) {
		t.Helper()
		steps, err := t.Store.Steps(t.Ctx, kit.Tenant, of.ID)
		t.Must(err)
		nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
		t.Must(err)
		got, err := t.Store.Unfinished(t.Ctx, kit.Tenant, of.ID)
		t.Must(err)
		for _, u := range []cluster.Unfinished{cluster.UnfinishedOf(steps, nodes), got} {
			if len(u.Failures) != u.Failed || u.Failed > 0 && u.Failures[0].ID != "n3.create" {
				t.Errorf("the failures are %+v", u.Failures)
			}
			if u.Failures = nil; !reflect.DeepEqual(u, want) {
				t.Errorf("left undone is %+v, want %+v", u, want)
			}
		}
	}
	want := cluster.Unfinished{Failed: 1, Machines: 1}
	agree(want)
	_, err := t.Store.MarkNodes(t.Ctx, kit.Tenant, "web-1", []string{"n1"}, nil, t.Clock.Now())
	t.Must(err)
	want.Stuck = true
	agree(want)
	if u, err := t.Store.Unfinished(t.Ctx, "another", of.ID); err != nil || !reflect.DeepEqual(u, cluster.Unfinished{}) {
		t.Errorf("another tenant reads %+v, %v", u, err)
	}
}
