package apptest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"muster/app"
)

// StoreSuite is what every store passes. open gives a fresh, empty store that is closed by the test.
func StoreSuite(t *testing.T, open func(t *testing.T) app.Store) {
	for _, c := range []struct {
		name string
		test func(*storeTest)
	}{
		{"a create runs to its end, step after step", (*storeTest).runsToItsEnd},
		{"an old fence changes nothing", (*storeTest).oldFence},
		{"a lost answer is given again", (*storeTest).lostAnswer},
		{"a lost claim is taken back and the late report refused", (*storeTest).lostClaim},
		{"a failed step waits out its back-off", (*storeTest).backOff},
		{"many back-offs that end at once are all served", (*storeTest).manyBackOffs},
		{"a clock that was set back holds nothing up", (*storeTest).clockSetBack},
		{"a failed operation can be resumed", (*storeTest).resume},
		{"a delete stops a create and follows it", (*storeTest).deleteDuringCreate},
		{"a cluster is deleted once", (*storeTest).deletedOnce},
		{"a failed delete is tried again, later each time", (*storeTest).failedDelete},
		{"a tenant's steps and rows are its own", (*storeTest).tenants},
		{"names of live clusters are unique", (*storeTest).names},
		{"a cluster is renamed, and its id stays", (*storeTest).renames},
		{"requests wait, move once and run in one transaction", (*storeTest).requests},
		{"parallel reviews move a request once", (*storeTest).reviews},
		{"requests are listed, found and looked after", (*storeTest).requestLists},
		{"policies keep their versions", (*storeTest).policies},
		{"versions of the catalog are written when it changes", (*storeTest).catalog},
		{"the feed replays from any number", (*storeTest).feed},
		{"logs of an old attempt are dropped", (*storeTest).logs},
		{"old events and logs are forgotten", (*storeTest).retention},
		{"how long steps took is learned by kind", (*storeTest).paces},
		{"many kinds of steps are learned at once", (*storeTest).pacesOfMany},
		{"bells are rung once, and again when lost", (*storeTest).bells},
		{"accounts and tokens", (*storeTest).people},
		{"people come, change and go", (*storeTest).accountsOfPeople},
		{"the last admins stay", (*storeTest).lastAdmins},
		{"groups are made here and come from elsewhere", (*storeTest).groups},
		{"tokens hold as long as they may", (*storeTest).tokens},
		{"tenants come, and go when nothing is left", (*storeTest).tenantsCome},
		{"a create is told whether there is something to look for", (*storeTest).asked},
		{"what was made is kept until it is proven gone", (*storeTest).receipts},
		{"orphans are counted by sightings", (*storeTest).orphans},
		{"servers take turns at accounts", (*storeTest).accounts},
		{"lost clusters heal", (*storeTest).lost},
		{"a cancel drops what waits, stops what runs, and ends", (*storeTest).cancel},
		{"what waits is cancelled at once, and changes nothing", (*storeTest).cancelWaiting},
		{"a pause lets running steps end and begins none", (*storeTest).pause},
		{"nothing begins by itself in what is paused, and a delete takes it over", (*storeTest).pausedThings},
		{"a delete of what is paused begins at once", (*storeTest).deletePaused},
		{"what is called off before it began has changed nothing", (*storeTest).calledOff},
		{"a lease ends although a delete had failed and the next was cancelled", (*storeTest).leaseAfterCalledOff},
		{"one node's failed steps are resumed while others run", (*storeTest).retryNode},
		{"one node's failed steps are resumed after the operation failed", (*storeTest).retryNodeOfFailed},
		{"a roll-back that leaves nothing ends the cluster", (*storeTest).rollBack},
		{"a roll-back of what was cancelled early ends the cluster", (*storeTest).rollBackOfCancelled},
		{"each report of a batch has its own end", (*storeTest).mixedBatch},
		{"many workers claim and report at the same time", (*storeTest).manyAtOnce},
		{"every claim of a node has a greater epoch", (*storeTest).epochs},
		{"operations take turns", (*storeTest).fairness},
		{"people are asked without holding a node or a worker", (*storeTest).asksPeople},
		{"of many answers one counts", (*storeTest).answersRace},
		{"a refusal ends the step, and a resume asks anew", (*storeTest).refuses},
		{"questions are answered in time, or end", (*storeTest).answersInTime},
		{"pause, cancel and delete stop asking", (*storeTest).stopsAsking},
		{"one answer counts for all nodes where it says so", (*storeTest).answersOnce},
		{"tenants claim in batches of their own", (*storeTest).tenantsInBatches},
		{"claims of workers are taken back by name", (*storeTest).releaseWorkers},
		{"a clock that was set forward loses nothing", (*storeTest).clockSetForward},
		{"random acts of workers, clocks and people: as the rules say", (*storeTest).likeTheBook},
		{"random sign-ins: those that should count do", (*storeTest).signIns},
		{"persons of identity providers get accounts of their own", (*storeTest).persons},
		{"a link to an identity works once", (*storeTest).identities},
		{"what steps wait for is told", (*storeTest).waits},
		{"how long a step is tried is known", (*storeTest).backsOff},
		{"what is to be rolled back by itself is so once", (*storeTest).rollBacks},
		{"hooks and their secrets", (*storeTest).hooks},
		{"a hook gets its notices in order, and holds up no other", (*storeTest).hookOrder},
		{"a hook that fails is stopped", (*storeTest).hookStops},
		{"deliveries are forgotten in time", (*storeTest).hookMemory},
		{"operations wait for the hooks before them", (*storeTest).hookHolds},
		{"what a hook vetoes does not happen", (*storeTest).hookVetoes},
		{"a hook that gives no answer holds up nothing for ever", (*storeTest).hookSilence},
		{"hooks cannot keep machines", (*storeTest).hookDeletes},
		{"templates name hooks", (*storeTest).hookOfTemplate},
		{"hooks run scripts, and wrong ones are refused", (*storeTest).hookScripts},
		{"notices are read by those they are for", (*storeTest).noticesFor},
		{"what a chat says counts once, and cards follow operations", (*storeTest).chats},
		{"what people of a chat are told is told once", (*storeTest).chatTells},
		{"homes in a chat become stale when their owners' things change", (*storeTest).chatHomes},
		{"workspaces, their tokens and channels are one tenant's each", (*storeTest).chatHouse},
		{"a verified address links to one account, and to no admin", (*storeTest).chatLinks},
		{"rounds of health checks are due in time, and held by one worker", (*storeTest).healthRounds},
		{"what rounds find is kept and told when it changes", (*storeTest).healthFound},
		{"a pool is refilled, and woken by what happens to it", (*storeTest).poolRefills},
		{"of many creates one gets the last machine of a pool", (*storeTest).poolRace},
		{"a machine of a pool is handed out with all that is its own", (*storeTest).poolHands},
		{"what a pool hands out is not counted twice", (*storeTest).poolQuota},
		{"random workers, random deaths: nothing lost, nothing twice", (*storeTest).storm},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(&storeTest{T: t, ctx: t.Context(), s: open(t), clock: NewClock()})
		})
	}
}

const tenant = "t1"

type storeTest struct {
	*testing.T
	ctx   context.Context
	s     app.Store
	clock *Clock
}

func (t *storeTest) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *storeTest) code(err error, want app.Code) {
	t.Helper()
	if got := app.CodeOf(err); got != want {
		t.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

func (t *storeTest) create(name string, nodes int) app.Operation {
	t.Helper()
	op, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, name, nodes, t.clock.Now(), Chain(nodes)))
	t.must(err)
	return op
}

func (t *storeTest) claim(worker string) *app.ClaimedStep {
	t.Helper()
	return t.claimAs(app.WorkerID{Tenant: tenant, Name: worker})
}

// claimAs claims one step, or gives nil.
func (t *storeTest) claimAs(w app.WorkerID) *app.ClaimedStep {
	t.Helper()
	cs, err := t.s.ClaimSteps(t.ctx, app.ClaimQuery{Worker: w, Now: t.clock.Now(), For: app.ClaimFor})
	t.must(err)
	if len(cs) == 0 {
		return nil
	}
	if len(cs) > 1 {
		t.Fatalf("%d steps were claimed, one was asked for", len(cs))
	}
	return cs[0]
}

// end finishes one attempt as a worker of the tenant.
func (t *storeTest) end(worker string, f app.Finish) (*app.ClaimedStep, error) {
	t.Helper()
	done, err := t.s.FinishSteps(t.ctx, app.WorkerID{Tenant: tenant, Name: worker}, []app.Finish{f})
	t.must(err)
	if len(done) != 1 {
		t.Fatalf("%d answers to one report", len(done))
	}
	if done[0].Err != nil {
		return nil, done[0].Err
	}
	return done[0].Next, nil
}

func fence(c *app.ClaimedStep) app.Fence {
	return app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}
}

func (t *storeTest) finish(c *app.ClaimedStep, chain bool) *app.ClaimedStep {
	t.Helper()
	f := app.Finish{Fence: fence(c), Now: t.clock.Now()}
	if chain {
		f.ClaimFor = app.ClaimFor
	}
	switch c.Step.Action {
	case app.ActionCreate:
		f.Node = &app.NodeUpdate{Status: app.NodeCreated, Machine: &app.Machine{ID: "m-" + c.Node.Name,
			Addresses: map[string]string{app.AddressAccess: "10.0.0.1"}}}
	case app.ActionDelete:
		f.Node = &app.NodeUpdate{Status: app.NodeDeleted, Gone: true}
	}
	next, err := t.end(c.Step.Worker, f)
	t.must(err)
	return next
}

func (t *storeTest) fail(c *app.ClaimedStep, r app.Retry) {
	t.Helper()
	_, err := t.end(c.Step.Worker, app.Finish{Fence: fence(c), Now: t.clock.Now(),
		Err: &app.Error{Code: app.EScript, Message: "it broke"}, Retry: r})
	t.must(err)
}

// drain carries out all there is, and gives the ids in the order in which they were claimed.
func (t *storeTest) drain() (ids []string) {
	t.Helper()
	for c := t.claim("w"); c != nil; c = t.claim("w") {
		for ; c != nil; c = t.finish(c, true) {
			ids = append(ids, c.Step.ID)
		}
	}
	return ids
}

func (t *storeTest) status(cluster string, want app.ClusterStatus, op app.OperationStatus) {
	t.Helper()
	c, err := t.s.Cluster(t.ctx, tenant, cluster)
	t.must(err)
	ops, err := t.s.Operations(t.ctx, tenant, cluster)
	t.must(err)
	if c.Status != want || ops[0].Status != op {
		t.Fatalf("cluster is %s (%s) and its latest operation %s (%s), want %s and %s", c.Status, c.Message, ops[0].Status, ops[0].Message, want, op)
	}
}

func (t *storeTest) runsToItsEnd() {
	t.create("web", 2)
	ids := t.drain()
	want := []string{"n1.create", "n1.confirm", "n2.create", "n2.confirm", "n2.a.start", "n2.b.start", "n1.a.start", "n1.b.start"}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("steps ran as %v\nwant        %v", ids, want)
	}
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	if ops[0].Done != 8 || ops[0].Total != 8 {
		t.Errorf("done %d of %d, want 8 of 8", ops[0].Done, ops[0].Total)
	}
	nodes, err := t.s.Nodes(t.ctx, tenant, "web-1")
	t.must(err)
	if nodes[1].MachineID != "m-n2" || nodes[1].Addresses[app.AddressAccess] != "10.0.0.1" {
		t.Errorf("outputs did not land on the node: %+v", nodes[1])
	}
	if nodes[1].Zone != "here" || nodes[1].Image != "host" {
		t.Errorf("the node is not as it was asked for: %+v", nodes[1])
	}
	secrets, err := t.s.ClusterSecrets(t.ctx, tenant, "web-1")
	t.must(err)
	if !bytes.Equal(secrets.PrivateKey, []byte("the cluster's private key")) {
		t.Error("the private key did not come back")
	}
	steps, err := t.s.Steps(t.ctx, tenant, ops[0].ID)
	t.must(err)
	if len(steps) != 8 || fmt.Sprint(steps[4].Needs) != "[1 3]" {
		t.Errorf("n1.a.start needs %v of %d steps, want both confirms: [1 3]", steps[4].Needs, len(steps))
	}
}

func (t *storeTest) oldFence() {
	t.create("web", 1)
	c := t.claim("w1")
	if c.HostKey == nil {
		t.Error("a create is handed the host key")
	}
	t.finish(c, false)
	_, err := t.end("w1", app.Finish{Fence: fence(c), Now: t.clock.Now()})
	t.code(err, app.EStale)
	c = t.claim("w1")
	f := fence(c)
	f.Attempt--
	_, err = t.end("w1", app.Finish{Fence: f, Now: t.clock.Now()})
	t.code(err, app.EStale)
	_, err = t.end("w2", app.Finish{Fence: fence(c), Now: t.clock.Now()})
	t.code(err, app.EStale)
}

func (t *storeTest) lostAnswer() {
	t.create("web", 1)
	c := t.claim("w1")
	f := app.Finish{Fence: fence(c), Now: t.clock.Now(), ClaimFor: app.ClaimFor}
	next, err := t.end("w1", f)
	t.must(err)
	again, err := t.end("w1", f)
	t.must(err)
	if next == nil || again == nil || fence(again) != fence(next) {
		t.Fatalf("asked again, the answer is %+v, was %+v", again, next)
	}
	_, err = t.end("w2", f)
	t.code(err, app.EStale)
}

func (t *storeTest) lostClaim() {
	t.create("web", 1)
	old := t.claim("w1")
	t.clock.Move(app.ClaimFor / 2)
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w1"}, []app.Fence{fence(old)}, t.clock.Now(), app.ClaimFor)
	t.must(err)
	if d[0].Lost || d[0].Cancel {
		t.Fatalf("a living claim was refused: %+v", d[0])
	}
	t.clock.Move(app.ClaimFor - time.Second)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 0 {
		t.Fatal("an extended claim was taken back")
	}
	t.clock.Move(2 * time.Second)
	n, err = t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 1 {
		t.Fatalf("%d claims taken back, want 1", n)
	}
	again := t.claim("w2")
	if again == nil || again.Step.ID != old.Step.ID || again.Step.Attempt != old.Step.Attempt+1 {
		t.Fatalf("the step is not to be had again: %+v", again)
	}
	_, err = t.end("w1", app.Finish{Fence: fence(old), Now: t.clock.Now()})
	t.code(err, app.EStale)
	d, err = t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w1"}, []app.Fence{fence(old)}, t.clock.Now(), app.ClaimFor)
	t.must(err)
	if !d[0].Lost {
		t.Error("the old worker is not told that its claim is lost")
	}
	n, err = t.s.ReleaseClaims(t.ctx, "w", t.clock.Now())
	t.must(err)
	if n != 1 {
		t.Errorf("%d claims released, want 1", n)
	}
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) backOff() {
	t.create("web", 1)
	t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute})
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out during its back-off", c.Step.ID)
	}
	t.clock.Move(time.Minute)
	_, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) manyBackOffs() {
	const nodes = 520 // more than one sweep takes
	t.create("web", nodes)
	var all sync.WaitGroup
	for range nodes {
		all.Go(func() { t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute}) })
	}
	all.Wait()
	t.clock.Move(time.Minute)
	for {
		n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
		t.must(err)
		if n == 0 {
			break
		}
	}
	bells, err := t.s.Unrung(t.ctx, 2*nodes)
	t.must(err)
	if len(bells) != nodes {
		t.Errorf("%d of %d steps are to be had after their back-off", len(bells), nodes)
	}
}

func (t *storeTest) clockSetBack() {
	t.create("web", 2)
	t.claim("w")
	t.fail(t.claim("w"), app.Retry{Again: true, After: time.Minute})
	t.clock.Move(-24 * time.Hour)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d steps were moved, want the lost claim and the back-off of another day", n)
	}
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	t.clock.Move(24 * time.Hour)
	t.must(t.s.MarkRung(t.ctx, bells, t.clock.Now()))
	t.clock.Move(-24 * time.Hour)
	n, err = t.s.Unring(t.ctx, "", t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d bells of another day are rung again, want 2", n)
	}
}

func (t *storeTest) resume() {
	op := t.create("web", 2)
	t.fail(t.claim("w"), app.Retry{})
	t.drain() // the other node goes on as far as it can
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	_, err := t.s.ControlOperation(t.ctx, app.Control{Tenant: "t2", Operation: op.ID, Act: app.ControlResume, Who: "eve", Now: t.clock.Now()})
	t.code(err, app.ENotFound)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	t.status("web-1", app.ClusterPending, app.OperationRunning)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.clock.Now()})
	t.code(err, app.EConflict)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

func (t *storeTest) deleteDuringCreate() {
	t.create("web", 2)
	running := t.claim("w")
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Remove(2), Cancel: true, Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	if op.Status != app.OperationWaiting {
		t.Fatalf("the delete is %s while a create step runs, want waiting", op.Status)
	}
	if c := t.claim("w"); c != nil {
		t.Fatalf("%s was handed out of a cancelled operation", c.Step.ID)
	}
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: tenant, Name: "w"}, []app.Fence{fence(running)}, t.clock.Now(), app.ClaimFor)
	t.must(err)
	if !d[0].Cancel {
		t.Error("the running step is not told to stop")
	}
	t.fail(running, app.Retry{Again: true})
	if ids := t.drain(); len(ids) != 2 {
		t.Errorf("the delete ran %v, want two steps", ids)
	}
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	live, err := t.s.IntentsOf(t.ctx, "cloud")
	t.must(err)
	if len(live) != 0 {
		t.Errorf("intents %v are still open", live)
	}
	for intent, want := range map[string]bool{"t1-web-n1": true, "unknown": false} {
		ended, _, err := t.s.IntentKnown(t.ctx, "cloud", intent)
		t.must(err)
		if ended != want {
			t.Errorf("intent %s has ended: %v, want %v", intent, ended, want)
		}
	}
	secrets, err := t.s.ClusterSecrets(t.ctx, tenant, "web-1")
	t.must(err)
	if len(secrets.PrivateKey) != 0 {
		t.Error("the private key outlived the cluster")
	}
	ended, err := t.s.ExpiredClusters(t.ctx, t.clock.Now().Add(time.Hour), 10)
	t.must(err)
	if len(ended) != 0 {
		t.Error("a deleted cluster has expired")
	}
}

func (t *storeTest) remove(nodes int) app.Operation {
	t.Helper()
	op, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Remove(nodes), Cancel: true, Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.must(err)
	return op
}

func (t *storeTest) deletedOnce() {
	t.create("web", 1)
	t.drain()
	op := t.remove(1)
	if again := t.remove(1); again.ID != op.ID {
		t.Errorf("a second delete began beside the first: %+v", again)
	}
	t.drain()
	if after := t.remove(1); after.ID != op.ID || after.Status != app.OperationSucceeded {
		t.Errorf("a cluster that is gone is deleted again: %+v", after)
	}
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	_, err := t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: Chain(1), Operation: app.Operation{Tenant: tenant,
		Cluster: "web-1", Kind: app.OperationCreate, Requester: "ada", CreatedAt: t.clock.Now()}})
	t.code(err, app.EConflict)
}

func (t *storeTest) failedDelete() {
	t.create("web", 1)
	t.drain()
	op := t.remove(1)
	due := func() bool {
		t.Helper()
		ops, err := t.s.FailedDeletes(t.ctx, t.clock.Now(), time.Minute, 5*time.Minute, 10)
		t.must(err)
		return len(ops) == 1 && ops[0].ID == op.ID
	}
	for _, wait := range []time.Duration{time.Minute, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		t.fail(t.claim("w"), app.Retry{})
		t.status("web-1", app.ClusterFailed, app.OperationFailed)
		t.clock.Move(wait - time.Second)
		if due() {
			t.Errorf("it is tried again before %s", wait)
		}
		t.clock.Move(time.Second)
		if !due() {
			t.Fatalf("it is not tried again after %s", wait)
		}
		_, err := t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: op.ID, Act: app.ControlResume, Who: "muster", Now: t.clock.Now()})
		t.must(err)
		if due() {
			t.Error("it is tried while it runs")
		}
	}
	t.fail(t.claim("w"), app.Retry{})
	op = t.remove(1) // a person asks anew: only that one counts
	t.fail(t.claim("w"), app.Retry{})
	t.clock.Move(time.Hour)
	if !due() {
		t.Error("the newer delete is not the one that is tried again")
	}
}

func (t *storeTest) tenants() {
	op := t.create("web", 1)
	c := t.claimAs(app.WorkerID{Tenant: "t2", Name: "w"})
	if c != nil {
		t.Fatal("another tenant's worker was given the step")
	}
	_, err := t.s.Cluster(t.ctx, "t2", "web-1")
	t.code(err, app.ENotFound)
	_, err = t.s.ClusterSecrets(t.ctx, "t2", "web-1")
	t.code(err, app.ENotFound)
	_, err = t.s.Definition(t.ctx, "t2", "web-1")
	t.code(err, app.ENotFound)
	nodes, err := t.s.Nodes(t.ctx, "t2", "web-1")
	t.must(err)
	steps, err := t.s.Steps(t.ctx, "t2", op.ID)
	t.must(err)
	events, err := t.s.Events(t.ctx, "t2", "web-1", 0, 10)
	t.must(err)
	list, err := t.s.Clusters(t.ctx, "t2", app.ClusterFilter{Deleted: true})
	t.must(err)
	if len(nodes)+len(steps)+len(events)+len(list) != 0 {
		t.Errorf("another tenant sees %d nodes, %d steps, %d events, %d clusters", len(nodes), len(steps), len(events), len(list))
	}
}

func (t *storeTest) names() {
	t.create("web", 1)
	n := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster = "web-2", "web-2"
	_, err := t.s.CreateCluster(t.ctx, n)
	t.code(err, app.EConflict)
	n = NewCluster(tenant, "web-1", 1, t.clock.Now(), Chain(1)) // the name is another one's id
	_, err = t.s.CreateCluster(t.ctx, n)
	t.code(err, app.EConflict)
	n = NewCluster(tenant, "w", 1, t.clock.Now(), Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster = "web", "web", "web" // the id is another one's name
	_, err = t.s.CreateCluster(t.ctx, n)
	t.code(err, app.EConflict)
	_, err = t.s.CreateCluster(t.ctx, func() app.NewCluster {
		n := NewCluster("t2", "web", 1, t.clock.Now(), Chain(1))
		n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster = "web-3", "web-3", "web-3"
		return n
	}())
	t.must(err)
	list, err := t.s.Clusters(t.ctx, tenant, app.ClusterFilter{Name: "web"})
	t.must(err)
	if len(list) != 1 || list[0].Operation == nil {
		t.Errorf("list %+v", list)
	}
	for owner, n := range map[string]int{list[0].Owner: 1, "nobody": 0} {
		if of, err := t.s.Clusters(t.ctx, tenant, app.ClusterFilter{Name: "web", Owner: owner}); err != nil || len(of) != n {
			t.Errorf("of %q: %+v, %v", owner, of, err)
		}
	}
	one, err := t.s.NextClusterNumber(t.ctx)
	t.must(err)
	two, err := t.s.NextClusterNumber(t.ctx)
	t.must(err)
	if two <= one {
		t.Errorf("numbers %d, %d do not grow", one, two)
	}
}

func (t *storeTest) feed() {
	changed, stop := t.s.Watch("web-1")
	defer stop()
	t.create("web", 1)
	select {
	case <-changed:
	case <-time.After(5 * time.Second):
		t.Fatal("a watcher was not woken")
	}
	t.drain()
	all, err := t.s.Events(t.ctx, tenant, "web-1", 0, 1000)
	t.must(err)
	for i := range all {
		rest, err := t.s.Events(t.ctx, tenant, "web-1", all[i].Seq, 1000)
		t.must(err)
		if len(rest) != len(all)-i-1 {
			t.Fatalf("after %d come %d events, want %d", all[i].Seq, len(rest), len(all)-i-1)
		}
	}
	last := all[len(all)-1]
	if last.Kind != app.EventCluster || last.Status != string(app.ClusterActive) {
		t.Errorf("the last event is %+v, want the cluster's becoming active", last)
	}
}

func (t *storeTest) logs() {
	t.create("web", 1)
	c := t.claim("w")
	line := app.LogLine{At: t.clock.Now(), Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt, Stream: app.StreamOut, Text: "hello"}
	old := line
	old.Attempt, old.Text = 7, "from another attempt"
	t.must(t.s.AppendLogs(t.ctx, tenant, []app.LogLine{line, old, line}))
	for _, f := range []app.LogFilter{{Limit: 9}, {Limit: 2, Tail: true}, {Limit: 9, Node: "n1"}, {Limit: 9, Step: c.Step.ID, Operation: c.Step.Operation}} {
		got, err := t.s.Logs(t.ctx, tenant, "web-1", f)
		t.must(err)
		if len(got) != 2 || got[0].Seq >= got[1].Seq || got[0].Text != "hello" || got[0].Step != "n1.create" {
			t.Errorf("%+v gives %+v", f, got)
		}
	}
	none, err := t.s.Logs(t.ctx, "t2", "web-1", app.LogFilter{Limit: 9})
	t.must(err)
	if len(none) != 0 {
		t.Error("another tenant reads the log")
	}
}

func (t *storeTest) bells() {
	t.create("web", 2)
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(bells) != 2 || bells[0].Attempt != 1 || bells[0].Tenant != tenant {
		t.Fatalf("bells %+v, want one for each node", bells)
	}
	t.must(t.s.MarkRung(t.ctx, bells, t.clock.Now()))
	again, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(again) != 0 {
		t.Fatalf("%+v would be rung twice", again)
	}
	t.clock.Move(time.Second)
	unheard, err := t.s.Unheard(t.ctx, t.clock.Now())
	t.must(err)
	if len(unheard) != 1 || unheard[tenant] != 2 {
		t.Errorf("unheard %v, want two bells of the tenant", unheard)
	}
	n, err := t.s.Unring(t.ctx, "another", t.clock.Now())
	t.must(err)
	if n != 0 {
		t.Errorf("%d bells of another tenant, want none", n)
	}
	n, err = t.s.Unring(t.ctx, "", t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d bells are lost, want 2", n)
	}
	select {
	case <-t.s.Committed():
	default:
		t.Error("nobody was told that there is something to ring")
	}
}

func (t *storeTest) people() {
	u := app.User{Tenant: tenant, Name: "ada", Role: app.RoleAdmin, PasswordHash: "x", CreatedAt: t.clock.Now()}
	t.must(t.s.CreateUser(t.ctx, u))
	t.code(t.s.CreateUser(t.ctx, u), app.EConflict)
	got, err := t.s.User(t.ctx, tenant, "ada")
	t.must(err)
	if !reflect.DeepEqual(got, u) {
		t.Errorf("user %+v, want %+v", got, u)
	}
	_, err = t.s.User(t.ctx, "t2", "ada")
	t.code(err, app.ENotFound)
	laptop := app.Token{Tenant: tenant, User: "ada", Label: "laptop", CreatedAt: t.clock.Now(), CreatedBy: "ada"}
	t.must(t.s.ReplaceToken(t.ctx, u.Actor(), laptop, []byte("one")))
	t.must(t.s.ReplaceToken(t.ctx, u.Actor(), laptop, []byte("two")))
	_, _, err = t.s.UserOfToken(t.ctx, []byte("one"))
	t.code(err, app.ENotFound)
	got, _, err = t.s.UserOfToken(t.ctx, []byte("two"))
	t.must(err)
	if got.Name != "ada" {
		t.Errorf("the token belongs to %q", got.Name)
	}
	t.must(t.s.SetPassword(t.ctx, tenant, "ada", "y"))
	n, err := t.s.CountUsers(t.ctx)
	t.must(err)
	if n != 1 {
		t.Errorf("%d users", n)
	}
	id, err := t.s.Installation(t.ctx)
	t.must(err)
	if id == "" {
		t.Error("the installation has no id")
	}
}

// storm lets workers claim, finish, fail, vanish and come back late at random, and checks what must always hold.
func (t *storeTest) storm() {
	for seed := range rounds(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := fmt.Sprintf("storm%d", seed)
		nodes := 1 + r.IntN(5)
		op := t.create(name, nodes)
		live := map[app.Fence]*app.ClaimedStep{} // what the ledger holds to be running
		var late []*app.ClaimedStep              // what workers still believe to hold
		effects := map[string]int{}
		for round := 0; round < 5000; round++ {
			t.clock.Move(time.Duration(r.IntN(1500)) * time.Millisecond)
			if n, err := t.s.SweepSteps(t.ctx, t.clock.Now()); err != nil {
				t.Fatal(err)
			} else if n > 0 {
				for f, c := range live {
					if c.Deadline.Before(t.clock.Now()) {
						delete(live, f)
						late = append(late, c)
					}
				}
			}
			if c := t.claim(fmt.Sprintf("w%d", r.IntN(3))); c != nil {
				for _, other := range live {
					if other.Node.Name == c.Node.Name {
						t.Fatalf("seed %d: %s and %s run at the same time on %s", seed, other.Step.ID, c.Step.ID, c.Node.Name)
					}
				}
				live[fence(c)] = c
			}
			for f, c := range live {
				if c.Deadline.Before(t.clock.Now()) {
					continue
				}
				switch r.IntN(6) {
				case 0:
					t.fail(c, app.Retry{Again: true, After: time.Duration(r.IntN(3)) * time.Second})
					delete(live, f)
				case 1, 2, 3:
					next := t.finish(c, r.IntN(2) == 0)
					effects[c.Step.ID]++
					delete(live, f)
					if next != nil {
						live[fence(next)] = next
					}
				}
			}
			for _, c := range late {
				_, err := t.end(c.Step.Worker, app.Finish{Fence: fence(c), Now: t.clock.Now()})
				t.code(err, app.EStale)
			}
			late = nil
			ops, err := t.s.Operations(t.ctx, tenant, name+"-1")
			t.must(err)
			if ops[0].Status.Ended() {
				break
			}
		}
		steps, err := t.s.Steps(t.ctx, tenant, op.ID)
		t.must(err)
		ended := map[int]app.Step{}
		failed := false
		for _, s := range steps {
			ended[s.Index] = s
			failed = failed || s.State == app.StepFailed
			if s.State == app.StepSucceeded && effects[s.ID] != 1 {
				t.Errorf("seed %d: %s counted %d times", seed, s.ID, effects[s.ID])
			}
			for _, n := range s.Needs {
				if s.State == app.StepSucceeded && ended[n].State != app.StepSucceeded {
					t.Errorf("seed %d: %s ran before %s", seed, s.ID, ended[n].ID)
				}
			}
		}
		want, state := app.OperationSucceeded, app.ClusterActive
		if failed {
			want, state = app.OperationFailed, app.ClusterFailed
		}
		t.status(name+"-1", state, want)
	}
}
