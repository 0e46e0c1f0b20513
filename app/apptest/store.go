package apptest

import (
	"context"
	"reflect"
	"testing"

	"muster/app"
	"muster/app/all"
	"muster/app/execution"
)

// StoreSuite is what every store passes. open gives a fresh, empty store that is closed by the test.
func StoreSuite(t *testing.T, open func(t *testing.T) all.Store) {
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
		{"what a failed operation left undone is counted", (*storeTest).unfinished},
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
		{"what tenants lay over the catalog is theirs alone, in versions", (*storeTest).ownCatalog},
		{"lists of clusters are narrowed, sorted and paged", (*storeTest).clusterList},
		{"a cluster is found, listed and counted for those who may see it", (*storeTest).readers},
		{"clusters are shared with people and groups that are there", (*storeTest).sharing},
		{"who decides or is asked sees what it is about", (*storeTest).deciders},
		{"the feed replays from any number", (*storeTest).feed},
		{"logs of an old attempt are dropped", (*storeTest).logs},
		{"old events and logs are forgotten", (*storeTest).retention},
		{"a request with a key is carried out once", (*storeTest).once},
		{"how long steps took is learned by kind", (*storeTest).paces},
		{"many kinds of steps are learned at once", (*storeTest).pacesOfMany},
		{"bells are rung once, and again when lost", (*storeTest).bells},
		{"accounts and tokens", (*storeTest).people},
		{"people come, change and go", (*storeTest).accountsOfPeople},
		{"the last admins stay", (*storeTest).lastAdmins},
		{"groups are made here and come from elsewhere", (*storeTest).groups},
		{"tokens hold as long as they may", (*storeTest).tokens},
		{"a new password ends tokens and sign-ins", (*storeTest).newPassword},
		{"a second factor is asked for, used once, and removed", (*storeTest).secondFactor},
		{"codes of a second factor are not guessed", (*storeTest).guessedCodes},
		{"second factors that were lost, and those that are required", (*storeTest).lostSecondFactor},
		{"a token does no more than the role that is left", (*storeTest).demoted},
		{"programs that are signed in: one address does not keep out others", (*storeTest).manyDevices},
		{"tenants come, and go when nothing is left", (*storeTest).tenantsCome},
		{"a create is told whether there is something to look for", (*storeTest).asked},
		{"what was made is kept until it is proven gone", (*storeTest).receipts},
		{"what an operation has to make in all is counted", (*storeTest).toMake},
		{"orphans are counted by sightings", (*storeTest).orphans},
		{"servers take turns at accounts", (*storeTest).accounts},
		{"lost clusters heal", (*storeTest).lost},
		{"expected machines follow the events", (*storeTest).expects},
		{"a cancel drops what waits, stops what runs, and ends", (*storeTest).cancel},
		{"what waits is cancelled at once, and changes nothing", (*storeTest).cancelWaiting},
		{"a pause lets running steps end and begins none", (*storeTest).pause},
		{"nothing begins by itself in what is paused, and a delete takes it over", (*storeTest).pausedThings},
		{"a back-off doesn't outlast a clock that was wrong", (*storeTest).backOffByAWrongClock},
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
		{"a report is kept in one transaction, or not at all", (*storeTest).reports},
		{"what services told is there for later steps", (*storeTest).keepsFacts},
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
		{"queue and why tell the same times", (*storeTest).waitsAgree},
		{"what is to be rolled back by itself is so once", (*storeTest).rollBacks},
		{"a build gets a cluster, and gives it back", (*storeTest).builds},
		{"a build's commit shows how its cluster is", (*storeTest).buildStatuses},
		{"a build that runs again gets another cluster", (*storeTest).buildRunsAgain},
		{"a build waits until its cluster's name is free", (*storeTest).buildNamesFree},
		{"builds wait for so long", (*storeTest).buildsWait},
		{"builds that several servers look after", (*storeTest).buildsTendedAtOnce},
		{"builds wait for approval", (*storeTest).buildsAsk},
		{"builds are called back, in the order of their states", (*storeTest).buildsCalledBack},
		{"a callback's address is kept secret, and goes with its hook", (*storeTest).buildsCalledInSecret},
		{"builds in any order: one cluster each, and none is left", (*storeTest).buildsAtRandom},
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
		{"versions of resources are staged, synced and recalled", (*storeTest).resources},
		{"references to resources are pinned", (*storeTest).pins},
		{"contents that nobody needs are swept", (*storeTest).sweeps},
		{"what a chat says counts once, and cards follow operations", (*storeTest).chats},
		{"what people of a chat are told is told once", (*storeTest).chatTells},
		{"what happens to a cluster is told beneath its card", (*storeTest).chatThreads},
		{"what was asked for in a chat has its card there", (*storeTest).chatAsks},
		{"homes in a chat become stale when their owners' things change", (*storeTest).chatHomes},
		{"workspaces, their tokens and channels are one tenant's each", (*storeTest).chatHouse},
		{"a verified address links to one account, and to no admin", (*storeTest).chatLinks},
		{"rounds of health checks are due in time, and held by one worker", (*storeTest).healthRounds},
		{"what rounds find is kept and told when it changes", (*storeTest).healthFound},
		{"a pool is refilled, and woken by what happens to it", (*storeTest).poolRefills},
		{"of many creates one gets the last machine of a pool", (*storeTest).poolRace},
		{"a machine of a pool is handed out with all that is its own", (*storeTest).poolHands},
		{"what a pool hands out is not counted twice", (*storeTest).poolQuota},
		{"a home shows what is one's own", (*storeTest).home},
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
	s     all.Store
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
	cs, err := t.s.ClaimSteps(t.ctx, app.ClaimQuery{Worker: w, Now: t.clock.Now(), For: execution.ClaimFor})
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
		f.ClaimFor = execution.ClaimFor
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
	t.failAs(c, &app.Error{Code: app.EScript, Message: "it broke"}, r)
}

func (t *storeTest) failAs(c *app.ClaimedStep, e *app.Error, r app.Retry) {
	t.Helper()
	_, err := t.end(c.Step.Worker, app.Finish{Fence: fence(c), Now: t.clock.Now(), Err: e, Retry: r})
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
	t.must(t.s.SetPassword(t.ctx, u.Actor(), "ada", "y", t.clock.Now()))
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
