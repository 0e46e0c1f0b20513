package pool

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/policy"
	apppool "muster/app/pool"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// stockTest makes pools and their machines.
type stockTest struct {
	*storeTest
	pool apppool.Pool
	made int
}

// newPool makes a pool of the machines that NewCluster asks for.
func (t *storeTest) newPool(count int) *stockTest {
	t.Helper()
	p, err := t.Store.CreatePool(t.Ctx, kit.Boss, apppool.Pool{Tenant: kit.Tenant, Name: "base", Hardware: "small", Image: "host", Provider: kit.Cloud,
		Zone: "here", Count: count, MaxAge: apppool.DefaultPoolAge,
		Mode: apppool.ModeOn, CreatedBy: "boss", CreatedAt: t.Clock.Now()})
	t.Must(err)
	return &stockTest{storeTest: t, pool: p}
}

// machine returns a machine as the pool would make it.
func (t *stockTest) machine() apppool.NewPoolMachine {
	t.made++
	n := apptest.NewCluster(kit.Tenant, fmt.Sprintf("pool-base-%d", t.made), 1, t.Clock.Now(), kit.Steps(app.OperationCreate, "n1.create", "n1.confirm"))
	n.Cluster.Owner, n.Cluster.Template, n.Cluster.Pool, n.Cluster.Services = "pool:base", "pool:base", t.pool.ID, []string{}
	n.Nodes[0].Node.Services = []string{}
	n.Definition = cluster.Definition{Services: map[string]*template.Service{}}
	n.Reservation = policy.ReservationOf(n.Cluster, n.Nodes, nil, nil)
	n.Reservation.Pool = true
	return apppool.NewPoolMachine{Cluster: n, Shape: cluster.MachineShape(kit.Cloud, template.Flavor{}, template.Image{}), ExpiresAt: t.Clock.Now().Add(24 * time.Hour)}
}

// fill makes so many and carries their creates out.
func (t *stockTest) fill(count int) {
	t.Helper()
	for range count {
		t.Must(t.Store.StockPool(t.Ctx, t.pool.ID, t.machine()))
	}
	t.Drain()
	if v := t.view(); v.Ready != count {
		t.Fatalf("after it was filled: %+v", v)
	}
}

func (t *stockTest) view() apppool.View {
	t.Helper()
	all, err := t.Store.PoolViews(t.Ctx, kit.Tenant, time.Time{})
	t.Must(err)
	if len(all) != 1 {
		t.Fatalf("%d pools, want one", len(all))
	}
	return all[0]
}

func (t *stockTest) due() bool {
	t.Helper()
	all, err := t.Store.DuePools(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	return len(all) > 0
}

// rest lets the pool rest, as when nothing is to be done.
func (t *stockTest) rest() {
	t.Helper()
	p, err := t.Store.Pool(t.Ctx, kit.Tenant, "base", false)
	t.Must(err)
	p.DueAt = time.Time{}
	t.Must(t.Store.RestPool(t.Ctx, p, nil))
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
	_, err := t.Store.CreatePool(t.Ctx, kit.Boss, p.pool)
	t.Code(err, app.EConflict)
	t.Must(t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()))
	t.Must(t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()))
	if err := t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()); app.AsError(err).Reason != "pool_full" {
		t.Fatalf("a third machine: %v", err)
	}
	p.rest()
	t.Drain()
	if v := p.view(); v.Ready != 2 || v.Creating != 0 || !p.due() {
		t.Fatalf("when both are made: %+v, due %v", v, p.due())
	}
	old, err := t.Store.Pool(t.Ctx, kit.Tenant, "base", false)
	t.Must(err)
	p.rest()
	t.Create("web", 1)
	if v := p.view(); v.Reserved != 1 || v.Ready != 1 || !p.due() {
		t.Fatalf("after a creation: %+v, due %v", v, p.due())
	}
	old.DueAt = time.Time{}
	t.Must(t.Store.RestPool(t.Ctx, old, nil)) // someone who looked before
	if !p.due() {
		t.Fatal("what has happened since someone looked is forgotten")
	}
	// Two servers that looked at the same time both see that people should be notified. They're notified once.
	due, err := t.Store.DuePools(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	for range 2 {
		both := due[0]
		both.Notified = true
		t.Must(t.Store.RestPool(t.Ctx, both, &app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: app.NoticePool, Users: []string{kit.Boss.User},
			Title: "twice"}))
	}
	notices, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 50)
	t.Must(err)
	if n := slices.IndexFunc(notices, func(n app.Notice) bool { return n.Title == "twice" }); n < 0 || slices.ContainsFunc(notices[n+1:], func(n app.Notice) bool { return n.Title == "twice" }) {
		t.Errorf("two servers looked at a pool at the same time, and people are notified: %+v", notices)
	}
	if all, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Deleted: true}); err != nil || len(all) != 1 {
		t.Fatalf("the list shows %d clusters (%v), want one", len(all), err)
	}
	machines, err := t.Store.PoolMachines(t.Ctx, p.pool.ID, 0)
	t.Must(err)
	for _, m := range machines {
		did, err := t.Store.RetirePoolMachine(t.Ctx, cluster.NewOperation{Cancel: true, Plan: apptest.Remove(1),
			Operation: app.Operation{Tenant: kit.Tenant, Cluster: m.Cluster, Kind: app.OperationDelete,
				PlanHash: "h", Requester: "pool:base", CreatedAt: t.Clock.Now()}})
		if err != nil || !did {
			t.Fatalf("retiring %+v: %v, %v", m, did, err)
		}
	}
	p.pool.Mode = apppool.ModeDeleted
	_, err = t.Store.ChangePool(t.Ctx, kit.Boss, p.pool, "pool.delete", t.Clock.Now())
	t.Must(err)
	t.Must(t.Store.EndPool(t.Ctx, p.pool, t.Clock.Now()))
	p.view() // it has machines yet
	t.Drain()
	t.Must(t.Store.EndPool(t.Ctx, p.pool, t.Clock.Now()))
	if all, err := t.Store.PoolViews(t.Ctx, kit.Tenant, time.Time{}); err != nil || len(all) != 0 {
		t.Fatalf("a pool that is gone: %+v (%v)", all, err)
	}
	if r, err := t.Store.PoolReceipt(t.Ctx, p.pool.ID, t.Clock.Now()); err != nil || r.Machines != 2 || r.HandedOut != 0 || r.Remaining != 2 || r.DeletedAt.IsZero() {
		t.Fatalf("receipt before the proof: %+v (%v)", r, err)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded) // a promise was broken, and it was made as ever
}

// poolRace: of many creates that want the last machine one gets it.
func (t *storeTest) poolRace() {
	p := t.newPool(1)
	p.fill(1)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprintf("web%d", i)
			if _, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(kit.Tenant, name, 2, t.Clock.Now(), apptest.Chain(2))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if v := p.view(); v.Reserved != 1 || v.Ready != 0 {
		t.Fatalf("after eight creates of two: %+v", v)
	}
	t.Drain()
	from := 0
	for i := range 8 {
		nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, fmt.Sprintf("web%d-1", i))
		t.Must(err)
		for _, n := range nodes {
			if n.Pool == "base" {
				from++
			}
		}
	}
	if v := p.view(); from != 1 || v.HandedOut != 1 {
		t.Fatalf("%d nodes got the one machine; %+v", from, v)
	}
}

// poolHands: a machine is one node's, with its intent, keys and line of the receipt, from one moment on.
func (t *storeTest) poolHands() {
	p := t.newPool(1)
	p.fill(1)
	stands := t.Intents()
	t.Create("web", 1)
	t.Clock.Move(time.Minute)
	c := t.Claim("w")
	if c.Unasked || len(c.HostKey) == 0 || c.Node.Pool != "base" || c.Node.MachineID != "m-n1" || stands[c.Intent].Cluster != "pool-base-1-1" {
		t.Fatalf("creation is handed out as %+v", c)
	}
	if live := t.Intents(); len(live) != 1 || live[c.Intent].Cluster != "web-1" || live[c.Intent].Machine != "m-n1" || live[c.Intent].Over {
		t.Fatalf("live intents: %+v", live)
	}
	if k, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, c.Node.TakenFrom); err != nil || string(k.PrivateKey) != "the cluster's private key" {
		t.Fatalf("the pool's key before the machine is the cluster's: %q (%v)", k.PrivateKey, err)
	}
	if of, err := t.Store.AssignedIntents(t.Ctx, []string{"web-1"}); err != nil || of[c.Intent] != "web-1" || len(of) != 1 {
		t.Fatalf("handed out: %v (%v)", of, err)
	}
	if unproven, err := t.Store.Unproven(t.Ctx, 10); err != nil || len(unproven) != 0 {
		t.Fatalf("it is to be proven that %+v is gone (%v)", unproven, err)
	}
	c = t.Finish(c, true) // the confirm
	if c == nil || c.Step.Action != app.ActionConfirm || c.Node.TakenFrom == "" {
		t.Fatalf("after creation comes %+v", c)
	}
	_, err := t.End("w", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Node: &execution.NodeUpdate{Status: app.NodeReady, Owned: true}})
	t.Must(err)
	if k, err := t.Store.ClusterSecrets(t.Ctx, kit.Tenant, c.Node.TakenFrom); err != nil || len(k.PrivateKey) != 0 {
		t.Fatalf("the pool's key is kept (%v)", err)
	}
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if n := nodes[0]; n.TakenFrom != "" || n.Pool != "base" || n.Status != app.NodeReady {
		t.Fatalf("the node: %+v", n)
	}
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}

// poolQuota: machines of a pool count as nodes and not as clusters, and handing out moves what they count for.
func (t *storeTest) poolQuota() {
	t.Must(t.Store.SetQuota(t.Ctx, kit.Boss, policy.Quota{Scope: policy.QuotaTenant,
		Limits: policy.Limits{}.With(policy.MeasureNodes, 3).With(policy.MeasureClusters, 1), ChangedAt: t.Clock.Now(), ChangedBy: "boss"}))
	t.Must(t.Store.SetQuota(t.Ctx, kit.Boss, policy.Quota{Scope: policy.QuotaEachUser, Limits: policy.Limits{}.With(policy.MeasureNodes, 2),
		ChangedAt: t.Clock.Now(), ChangedBy: "boss"}))
	p := t.newPool(9)
	p.fill(3)
	t.Code(t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()), app.EQuota)
	t.Create("web", 2) // both from the pool
	if v := p.view(); v.Reserved != 2 || v.Ready != 1 {
		t.Fatalf("after a creation of two: %+v", v)
	}
	t.Code(t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()), app.EQuota)
	_, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(kit.Tenant, "other", 1, t.Clock.Now(), apptest.Chain(1)))
	t.Code(err, app.EQuota) // one cluster is the limit
	if v := p.view(); v.Reserved != 2 || v.Ready != 1 {
		t.Fatalf("after a create that was refused: %+v", v)
	}
	held := func() (nodes int) {
		all, err := t.Store.Reservations(t.Ctx, kit.Tenant)
		t.Must(err)
		for _, r := range all {
			nodes += r.Nodes
		}
		return nodes
	}
	if n := held(); n != 3 {
		t.Fatalf("%d nodes are reserved, want 3", n)
	}
	// Nothing of it has begun: called off, the machines are the pool's again, and count.
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: ops[0].ID, Act: app.ControlCancel, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	if v := p.view(); v.Reserved != 0 || v.Ready != 3 {
		t.Fatalf("after it was cancelled: %+v", v)
	}
	if n := held(); n != 5 { // the cluster's two until it is deleted
		t.Fatalf("%d nodes are reserved, want 5", n)
	}
}

// poolLeaves: a machine that its provider takes away is given back at once, and the pool is looked at.
func (t *storeTest) poolLeaves() {
	p := t.newPool(1)
	t.Must(t.Store.StockPool(t.Ctx, p.pool.ID, p.machine()))
	t.CarryOut("")
	p.rest()
	machines, err := t.Store.PoolMachines(t.Ctx, p.pool.ID, 0)
	t.Must(err)
	m := machines[0]
	at := []app.Interruption{{Node: "n1", Machine: m.MachineID, At: t.Clock.Now().Add(time.Minute)}}
	newly, err := t.Store.MarkInterrupted(t.Ctx, kit.Tenant, m.Cluster, at, t.Clock.Now())
	if err != nil || !slices.Equal(newly, []string{"n1"}) || !p.due() {
		t.Fatalf("newly %v, due %t: %v", newly, p.due(), err)
	}
	machines, err = t.Store.PoolMachines(t.Ctx, p.pool.ID, 0)
	t.Must(err)
	if len(machines) != 1 || t.Clock.Now().Before(machines[0].ExpiresAt) {
		t.Errorf("it stays: %+v", machines)
	}
}
