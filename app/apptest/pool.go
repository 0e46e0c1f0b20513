package apptest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/policy"
	apppool "muster/app/pool"
)

// stockTest makes pools and their machines.
type stockTest struct {
	*storeTest
	pool app.Pool
	made int
}

// newPool makes a pool of the machines that NewCluster asks for.
func (t *storeTest) newPool(count int) *stockTest {
	t.Helper()
	p, err := t.s.CreatePool(t.ctx, boss, app.Pool{Tenant: tenant, Name: "base", Hardware: "small", Image: "host", Provider: cloud, Zone: "here", Count: count, MaxAge: apppool.DefaultPoolAge,
		Mode: app.PoolOn, MadeBy: "boss", MadeAt: t.clock.Now()})
	t.must(err)
	return &stockTest{storeTest: t, pool: p}
}

// machine gives a machine as the pool would make it.
func (t *stockTest) machine() app.NewPoolMachine {
	t.made++
	n := NewCluster(tenant, fmt.Sprintf("pool-base-%d", t.made), 1, t.clock.Now(), steps(app.OperationCreate, "n1.create", "n1.confirm"))
	n.Cluster.Owner, n.Cluster.Template, n.Cluster.Pool, n.Cluster.Services = "pool:base", "pool:base", t.pool.ID, []string{}
	n.Nodes[0].Node.Services = []string{}
	n.Definition = app.Definition{Services: map[string]*app.Service{}}
	n.Reservation = policy.ReservationOf(n.Cluster, n.Nodes, nil, nil)
	n.Reservation.Pool = true
	return app.NewPoolMachine{Cluster: n, Shape: app.MachineShape(cloud, app.Flavor{}, app.Image{}), ExpiresAt: t.clock.Now().Add(24 * time.Hour)}
}

// fill makes so many and carries their creates out.
func (t *stockTest) fill(count int) {
	t.Helper()
	for range count {
		t.must(t.s.StockPool(t.ctx, t.pool.ID, t.machine()))
	}
	t.drain()
	if v := t.view(); v.Ready != count {
		t.Fatalf("after it was filled: %+v", v)
	}
}

func (t *stockTest) view() app.PoolView {
	t.Helper()
	all, err := t.s.PoolViews(t.ctx, tenant, time.Time{})
	t.must(err)
	if len(all) != 1 {
		t.Fatalf("%d pools, want one", len(all))
	}
	return all[0]
}

func (t *stockTest) due() bool {
	t.Helper()
	all, err := t.s.DuePools(t.ctx, t.clock.Now(), 10)
	t.must(err)
	return len(all) > 0
}

// rest lets the pool rest, as when nothing is to be done.
func (t *stockTest) rest() {
	t.Helper()
	p, err := t.s.Pool(t.ctx, tenant, "base", false)
	t.must(err)
	p.DueAt = time.Time{}
	t.must(t.s.RestPool(t.ctx, p, nil))
	if t.due() {
		t.Fatal("the pool does not rest")
	}
}

// poolRefills: no more machines than are wanted, by however many servers; all that happens to a pool wakes it, and nothing else.
func (t *storeTest) poolRefills() {
	p := t.newPool(2)
	if !p.due() {
		t.Fatal("a new pool is not looked at")
	}
	_, err := t.s.CreatePool(t.ctx, boss, p.pool)
	t.code(err, app.EConflict)
	t.must(t.s.StockPool(t.ctx, p.pool.ID, p.machine()))
	t.must(t.s.StockPool(t.ctx, p.pool.ID, p.machine()))
	if err := t.s.StockPool(t.ctx, p.pool.ID, p.machine()); app.AsError(err).Reason != "pool_full" {
		t.Fatalf("a third machine: %v", err)
	}
	p.rest()
	t.drain()
	if v := p.view(); v.Ready != 2 || v.Making != 0 || !p.due() {
		t.Fatalf("when both are made: %+v, due %v", v, p.due())
	}
	old, err := t.s.Pool(t.ctx, tenant, "base", false)
	t.must(err)
	p.rest()
	t.create("web", 1)
	if v := p.view(); v.Promised != 1 || v.Ready != 1 || !p.due() {
		t.Fatalf("after a create: %+v, due %v", v, p.due())
	}
	old.DueAt = time.Time{}
	t.must(t.s.RestPool(t.ctx, old, nil)) // somebody who looked before
	if !p.due() {
		t.Fatal("what has happened since somebody looked is forgotten")
	}
	// Two servers that looked at the same time both see that people should be notified. They're notified once.
	due, err := t.s.DuePools(t.ctx, t.clock.Now(), 10)
	t.must(err)
	for range 2 {
		both := due[0]
		both.Told = true
		t.must(t.s.RestPool(t.ctx, both, &app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: app.NoticePool, Users: []string{boss.User}, Title: "twice"}))
	}
	notices, err := t.s.Notices(t.ctx, tenant, 0, 50)
	t.must(err)
	if n := slices.IndexFunc(notices, func(n app.Notice) bool { return n.Title == "twice" }); n < 0 || slices.ContainsFunc(notices[n+1:], func(n app.Notice) bool { return n.Title == "twice" }) {
		t.Errorf("two servers looked at a pool at the same time, and people are notified: %+v", notices)
	}
	if all, err := t.s.Clusters(t.ctx, tenant, app.ClusterFilter{Deleted: true}); err != nil || len(all) != 1 {
		t.Fatalf("the list shows %d clusters (%v), want one", len(all), err)
	}
	machines, err := t.s.PoolMachines(t.ctx, p.pool.ID, 0)
	t.must(err)
	for _, m := range machines {
		did, err := t.s.RetirePoolMachine(t.ctx, app.NewOperation{Cancel: true, Plan: Remove(1), Operation: app.Operation{Tenant: tenant, Cluster: m.Cluster, Kind: app.OperationDelete,
			PlanHash: "h", Requester: "pool:base", CreatedAt: t.clock.Now()}})
		if err != nil || !did {
			t.Fatalf("retiring %+v: %v, %v", m, did, err)
		}
	}
	p.pool.Mode = app.PoolDeleted
	_, err = t.s.ChangePool(t.ctx, boss, p.pool, "pool.delete", t.clock.Now())
	t.must(err)
	t.must(t.s.EndPool(t.ctx, p.pool, t.clock.Now()))
	p.view() // it has machines yet
	t.drain()
	t.must(t.s.EndPool(t.ctx, p.pool, t.clock.Now()))
	if all, err := t.s.PoolViews(t.ctx, tenant, time.Time{}); err != nil || len(all) != 0 {
		t.Fatalf("a pool that is gone: %+v (%v)", all, err)
	}
	if r, err := t.s.PoolReceipt(t.ctx, p.pool.ID, t.clock.Now()); err != nil || r.Machines != 2 || r.Handed != 0 || r.Left != 2 || r.DeletedAt.IsZero() {
		t.Fatalf("receipt before the proof: %+v (%v)", r, err)
	}
	t.status("web-1", app.ClusterActive, app.OperationSucceeded) // a promise was broken, and it was made as ever
}

// poolRace: of many creates that want the last machine one gets it.
func (t *storeTest) poolRace() {
	p := t.newPool(1)
	p.fill(1)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprintf("web%d", i)
			if _, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, name, 2, t.clock.Now(), Chain(2))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if v := p.view(); v.Promised != 1 || v.Ready != 0 {
		t.Fatalf("after eight creates of two: %+v", v)
	}
	t.drain()
	from := 0
	for i := range 8 {
		nodes, err := t.s.Nodes(t.ctx, tenant, fmt.Sprintf("web%d-1", i))
		t.must(err)
		for _, n := range nodes {
			if n.Pool == "base" {
				from++
			}
		}
	}
	if v := p.view(); from != 1 || v.Handed != 1 {
		t.Fatalf("%d nodes got the one machine; %+v", from, v)
	}
}

// poolHands: a machine is one node's, with its intent, keys and line of the receipt, from one moment on.
func (t *storeTest) poolHands() {
	p := t.newPool(1)
	p.fill(1)
	stands := t.intents()
	t.create("web", 1)
	t.clock.Move(time.Minute)
	c := t.claim("w")
	if c.Unasked || len(c.HostKey) == 0 || c.Node.Pool != "base" || c.Node.MachineID != "m-n1" || stands[c.Intent].Cluster != "pool-base-1-1" {
		t.Fatalf("the create is handed out as %+v", c)
	}
	if live := t.intents(); len(live) != 1 || live[c.Intent].Cluster != "web-1" || live[c.Intent].Machine != "m-n1" || live[c.Intent].Over {
		t.Fatalf("live intents: %+v", live)
	}
	if k, err := t.s.ClusterSecrets(t.ctx, tenant, c.Node.TakenFrom); err != nil || string(k.PrivateKey) != "the cluster's private key" {
		t.Fatalf("the pool's key before the machine is the cluster's: %q (%v)", k.PrivateKey, err)
	}
	if of, err := t.s.HandedOut(t.ctx, []string{"web-1"}); err != nil || of[c.Intent] != "web-1" || len(of) != 1 {
		t.Fatalf("handed out: %v (%v)", of, err)
	}
	if unproven, err := t.s.Unproven(t.ctx, 10); err != nil || len(unproven) != 0 {
		t.Fatalf("it is to be proven that %+v is gone (%v)", unproven, err)
	}
	c = t.finish(c, true) // the confirm
	if c == nil || c.Step.Action != app.ActionConfirm || c.Node.TakenFrom == "" {
		t.Fatalf("after the create comes %+v", c)
	}
	_, err := t.end("w", app.Finish{Fence: fence(c), Now: t.clock.Now(), Node: &app.NodeUpdate{Status: app.NodeReady, Owned: true}})
	t.must(err)
	if k, err := t.s.ClusterSecrets(t.ctx, tenant, c.Node.TakenFrom); err != nil || len(k.PrivateKey) != 0 {
		t.Fatalf("the pool's key is kept (%v)", err)
	}
	nodes, err := t.s.Nodes(t.ctx, tenant, "web-1")
	t.must(err)
	if n := nodes[0]; n.TakenFrom != "" || n.Pool != "base" || n.Status != app.NodeReady {
		t.Fatalf("the node: %+v", n)
	}
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

// poolQuota: machines of a pool count as nodes and not as clusters, and handing out moves what they count for.
func (t *storeTest) poolQuota() {
	t.must(t.s.SetQuota(t.ctx, boss, policy.Quota{Scope: app.QuotaTenant, Limits: policy.Limits{}.With(app.MeasureNodes, 3).With(app.MeasureClusters, 1), ChangedAt: t.clock.Now(), ChangedBy: "boss"}))
	t.must(t.s.SetQuota(t.ctx, boss, policy.Quota{Scope: app.QuotaEachUser, Limits: policy.Limits{}.With(app.MeasureNodes, 2), ChangedAt: t.clock.Now(), ChangedBy: "boss"}))
	p := t.newPool(9)
	p.fill(3)
	t.code(t.s.StockPool(t.ctx, p.pool.ID, p.machine()), app.EQuota)
	t.create("web", 2) // both from the pool
	if v := p.view(); v.Promised != 2 || v.Ready != 1 {
		t.Fatalf("after a create of two: %+v", v)
	}
	t.code(t.s.StockPool(t.ctx, p.pool.ID, p.machine()), app.EQuota)
	_, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, "other", 1, t.clock.Now(), Chain(1)))
	t.code(err, app.EQuota) // one cluster is the limit
	if v := p.view(); v.Promised != 2 || v.Ready != 1 {
		t.Fatalf("after a create that was refused: %+v", v)
	}
	held := func() (nodes int) {
		all, err := t.s.Reservations(t.ctx, tenant)
		t.must(err)
		for _, r := range all {
			nodes += r.Nodes
		}
		return nodes
	}
	if n := held(); n != 3 {
		t.Fatalf("%d nodes are reserved, want 3", n)
	}
	// Nothing of it has begun: called off, the machines are the pool's again, and count.
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	_, err = t.s.ControlOperation(t.ctx, app.Control{Tenant: tenant, Operation: ops[0].ID, Act: app.ControlCancel, Who: "ada", Now: t.clock.Now()})
	t.must(err)
	if v := p.view(); v.Promised != 0 || v.Ready != 3 {
		t.Fatalf("after it was cancelled: %+v", v)
	}
	if n := held(); n != 5 { // the cluster's two until it is deleted
		t.Fatalf("%d nodes are reserved, want 5", n)
	}
}
