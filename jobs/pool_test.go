//go:build unix

package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/pool"
	"muster/app/template"
	"muster/jobs/remote"
	"muster/providers/fake"
)

// pooled is an engine whose machines are each a server of its own, with its own keys.
type pooled struct {
	*engine
	nodes *fake.Nodes
}

func newPooled(t *testing.T) *pooled {
	t.Helper()
	p := &pooled{nodes: fake.NewNodes(t.TempDir())}
	t.Cleanup(func() { _ = p.nodes.Close() })
	p.engine = newEngine(t, func(e *engine, _ *template.Catalog) {
		e.cloud.Bind(p.nodes.Bind)
		e.cloud.OnAdopt(p.nodes.Adopt)
	})
	keys := remote.Keys{}
	p.app.Cluster.Creates.Keys, p.app.SSHAccess.Keys, p.app.Operation.Submitter.Keys, p.app.Pool.Reconciler.Keys = keys, keys, keys, keys
	return p
}

// pool makes one of small machines and waits until it is full.
func (p *pooled) pool(name string, count int) pool.View {
	p.Helper()
	if _, err := p.app.Pool.Pools.CreatePool(p.ctx, p.admin, pool.Request{Name: name, Hardware: "small", Image: "linux", Provider: "cloud", Count: &count}); err != nil {
		p.Fatal(err)
	}
	return p.until(name, "it is full", func(v pool.View) bool { return v.Ready == count && v.Creating == 0 })
}

// until reconciles pools until one is as it should be.
func (e *engine) until(name, what string, is func(pool.View) bool) pool.View {
	e.Helper()
	for deadline := time.Now().Add(hangs); ; {
		if _, err := e.app.Pool.Reconciler.ReconcilePools(e.ctx); err != nil {
			e.Fatal(err)
		}
		v, err := e.app.Pool.Pools.Pool(e.ctx, e.admin, name)
		if app.CodeOf(err) != "" && app.CodeOf(err) != app.ENotFound {
			e.Fatal(err)
		}
		if is(v) {
			return v
		}
		if time.Now().After(deadline) {
			e.Fatalf("not so in time: %s; the pool is %+v", what, v)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// set changes a pool.
func (e *engine) set(r pool.Request) {
	e.Helper()
	if _, err := e.app.Pool.Pools.ChangePool(e.ctx, e.admin, r); err != nil {
		e.Fatal(err)
	}
}

// keys returns the keys by which a pool opens its machines, by machine.
func (p *pooled) keys(v pool.View) map[string][]byte {
	p.Helper()
	keys := map[string][]byte{}
	for _, m := range v.Machines {
		s, err := p.store.ClusterSecrets(p.ctx, app.DefaultTenant, m.Cluster)
		if err != nil || len(s.PrivateKey) == 0 {
			p.Fatalf("key of %s: %v", m.Cluster, err)
		}
		keys[m.MachineID] = s.PrivateKey
	}
	return keys
}

// opens reports whether a key opens a node.
func (p *pooled) opens(n app.Node, key []byte) bool {
	p.Helper()
	c, err := remote.Dial(p.ctx, remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey, PrivateKey: key})
	if err == nil {
		_ = c.Close()
		return true
	}
	if app.AsError(err).Reason != "auth_refused" {
		p.Fatal(err)
	}
	return false
}

func TestCreateUsesPoolMachines(t *testing.T) {
	p := newPooled(t)
	v := p.pool("base", 3)
	keys := p.keys(v)
	if all, err := p.app.Cluster.Views.Clusters(p.ctx, p.admin, app.ClusterFilter{}); err != nil || len(all) != 0 {
		t.Errorf("the list of clusters shows %d of the pool (%v)", len(all), err)
	}
	if _, err := p.app.Cluster.Deletes.DeleteCluster(p.ctx, p.admin, v.Machines[0].Cluster); app.AsError(err).Reason != "pool" {
		t.Errorf("a person deletes a machine of the pool: %v", err)
	}
	preview, err := p.app.Cluster.Creates.Preview(p.ctx, p.admin, cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if o := preview.FromPools; o == nil || o.Machines != 3 || o.Total != 4 || o.Without != preview.Duration || !slices.Equal(o.Pools, []string{"base"}) {
		t.Errorf("of 4 machines: %+v", preview.FromPools)
	}
	p.set(pool.Request{Name: "base", Mode: pool.ModeOff}) // so that whatever is made now is made for the cluster
	made := p.cloud.Count(fake.Create)
	c := p.await(p.create(3).ID)
	p.want(c, app.ClusterActive)
	if n := p.cloud.Count(fake.Create); n != made || made != 3 {
		t.Errorf("the cloud was asked for %d machines and then for %d", made, n-made)
	}
	for _, n := range c.Nodes {
		old := keys[n.MachineID]
		if n.Pool != "base" || old == nil {
			t.Errorf("%s has machine %s from %q", n.Name, n.MachineID, n.Pool)
			continue
		}
		own, err := p.store.ClusterSecrets(p.ctx, app.DefaultTenant, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !p.opens(n, own.PrivateKey) || p.opens(n, old) {
			t.Errorf("%s is not opened by the cluster's key, or still by the pool's", n.Name)
		}
		m, err := p.cloud.Describe(p.ctx, n.MachineID)
		if err != nil || m.Tags[family.TagCluster] != c.ID || m.Tags[family.TagNode] != n.Name || m.Hostname != n.Hostname || m.HostKey != n.HostKey {
			t.Errorf("the cloud says %+v of %s (%v)", m, n.Name, err)
		}
	}
	for _, m := range v.Machines {
		if s, err := p.store.ClusterSecrets(p.ctx, app.DefaultTenant, m.Cluster); err != nil || len(s.PrivateKey) != 0 {
			t.Errorf("the pool's key of %s is kept (%v)", m.MachineID, err)
		}
	}
	p.set(pool.Request{Name: "base", Mode: pool.ModeOn})
	v = p.until("base", "it is refilled", func(v pool.View) bool { return v.Ready == 3 })
	if v.HandedOutToday != 3 || v.HandedOut != 3 || len(v.Recent) != 3 || v.Recent[0].ForCluster != c.ID {
		t.Errorf("handed out: %+v", v)
	}
	if preview, err := p.app.Operation.Updates.PreviewUpdate(p.ctx, p.admin, c.ID, cluster.Update{Kind: app.OperationResize, Size: 5}); err != nil || preview.FromPools == nil || preview.FromPools.Machines != 2 {
		t.Errorf("a growth is offered %+v (%v)", preview.FromPools, err)
	}
	p.set(pool.Request{Name: "base", Mode: pool.ModeOff})
	made = p.cloud.Count(fake.Create)
	if _, err := p.app.Operation.Updates.Update(p.ctx, p.admin, c.ID, cluster.Update{Kind: app.OperationResize, Size: 5}); err != nil {
		t.Fatal(err)
	}
	p.want(p.await(c.ID), app.ClusterActive)
	if n := p.cloud.Count(fake.Create) - made; n != 0 {
		t.Errorf("the cloud was asked for %d machines by a growth of two", n)
	}
	p.receipts(c, v)
}

// receipts deletes the cluster and the pool, and looks for what is left and whether any time of a machine was counted twice.
func (p *pooled) receipts(c cluster.View, v pool.View) {
	p.Helper()
	if _, err := p.app.Cluster.Deletes.DeleteCluster(p.ctx, p.admin, c.ID); err != nil {
		p.Fatal(err)
	}
	p.want(p.await(c.ID), app.ClusterDeleted)
	if _, err := p.app.Pool.Pools.DeletePool(p.ctx, p.admin, "base"); err != nil {
		p.Fatal(err)
	}
	p.until("base", "it is gone", func(v pool.View) bool { return v.Name == "" })
	if n := p.machines(); n != 0 {
		p.Errorf("%d machines are left", n)
	}
	stop := p.reconciler(nil)
	defer stop()
	var r pool.Receipt
	for deadline := time.Now().Add(hangs); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if r, err = p.app.Pool.Pools.PoolReceipt(p.ctx, p.admin, "base"); err != nil {
			p.Fatal(err)
		}
		proof, err := p.store.Proof(p.ctx, app.DefaultTenant, c.ID)
		if err != nil {
			p.Fatal(err)
		}
		if r.Remaining == 0 && !proof.At.IsZero() {
			break
		}
		if time.Now().After(deadline) {
			p.Fatalf("it is not proven that nothing is left: %+v, %+v", r, proof)
		}
	}
	if r.Machines != 6 || r.HandedOut != 5 || r.Deleted != 1 || r.DeletedAt.IsZero() || r.Cost <= 0 {
		p.Errorf("receipt of the pool: %+v", r)
	}
	type span struct{ from, to time.Time }
	times := map[string][]span{}
	of := []string{c.ID}
	for _, m := range slices.Concat(v.Machines, v.Recent) {
		of = append(of, m.Cluster)
	}
	for _, id := range of {
		all, err := p.store.Resources(p.ctx, app.DefaultTenant, id)
		if err != nil {
			p.Fatal(err)
		}
		for _, x := range all {
			if x.DeletedAt.IsZero() || x.Price != 0.5 {
				p.Errorf("a line of %s: %+v", id, x)
			}
			times[x.ID] = append(times[x.ID], span{x.CreatedAt, x.DeletedAt})
		}
	}
	if len(times) != 6 {
		p.Errorf("receipts tell of %d machines, want 6", len(times))
	}
	for id, list := range times {
		slices.SortFunc(list, func(a, b span) int { return a.from.Compare(b.from) })
		for i := range list[1:] {
			if !list[i].to.Equal(list[i+1].from) {
				p.Errorf("machine %s is counted twice, or not at all: %v", id, list)
			}
		}
	}
	if live, err := p.store.IntentsOf(p.ctx, "cloud"); err != nil || len(live) != 0 {
		p.Errorf("intents that have not ended: %v (%v)", live, err)
	}
}

func TestMissingPoolMachineIsCreated(t *testing.T) {
	p := newPooled(t)
	v := p.pool("base", 2)
	p.set(pool.Request{Name: "base", Mode: pool.ModeOff})
	p.cloud.Vanish(v.Machines[0].MachineID)
	p.nodes.Keep(p.cloud.Machines())
	c := p.await(p.create(2).ID)
	p.want(c, app.ClusterActive)
	if n := p.cloud.Count(fake.Create); n != 3 {
		t.Errorf("the cloud was asked for %d machines, want one more than the pool's 2", n)
	}
	if n := p.machines(); n != 2 {
		t.Errorf("%d machines, want 2", n)
	}
}

// What was accepted and never begun has nothing to give back: its machines are still the pool's.
func TestUnusableReservedMachine(t *testing.T) {
	p := newPooled(t)
	p.pool("base", 3)
	p.set(pool.Request{Name: "base", Mode: pool.ModeOff})
	_ = p.worker.Close() // no one begins anything
	c := p.create(2)
	v, err := p.app.Pool.Pools.Pool(p.ctx, p.admin, "base")
	if err != nil || v.Reserved != 2 || v.Ready != 1 {
		t.Fatalf("after a creation of two: %+v (%v)", v, err)
	}
	if _, err := p.app.Operation.Controls.CancelOperation(p.ctx, p.admin, c.ID, 0, false); err != nil {
		t.Fatal(err)
	}
	if v, err = p.app.Pool.Pools.Pool(p.ctx, p.admin, "base"); err != nil || v.Reserved != 0 || v.Ready != 3 {
		t.Fatalf("after it was cancelled: %+v (%v)", v, err)
	}
	p.startWorker("w2")
	if _, err := p.app.Cluster.Deletes.DeleteCluster(p.ctx, p.admin, c.ID); err != nil {
		t.Fatal(err)
	}
	p.want(p.await(c.ID), app.ClusterDeleted)
	if n := p.machines(); n != 3 {
		t.Errorf("%d machines, want the pool's 3", n)
	}
}

// Machines that got into a cluster may be dirty: what is given back goes to the cloud, not into the pool.
func TestCancelledCreateDeletesPoolMachines(t *testing.T) {
	p := newPooled(t)
	v := p.pool("base", 2)
	p.set(pool.Request{Name: "base", Mode: pool.ModeOff})
	p.cloud.Order(fake.Describe, fake.Outcome{Err: &app.Error{Code: app.EInvalid, Message: "broken"}, Times: 2}) // confirm fails
	c := p.await(p.create(2).ID)
	p.want(c, app.ClusterFailed)
	if _, err := p.app.Operation.RollBacks.RollBack(p.ctx, p.admin, c.ID, 0, "", ""); err != nil {
		t.Fatal(err)
	}
	p.want(p.await(c.ID), app.ClusterDeleted)
	if n := p.machines(); n != 0 {
		t.Errorf("%d machines are left", n)
	}
	for _, m := range v.Machines {
		if s, err := p.store.ClusterSecrets(p.ctx, app.DefaultTenant, m.Cluster); err != nil || len(s.PrivateKey) != 0 {
			t.Errorf("the pool's key of %s is kept (%v)", m.MachineID, err)
		}
	}
	if live, err := p.store.IntentsOf(p.ctx, "cloud"); err != nil || len(live) != 0 {
		t.Errorf("intents that have not ended: %v (%v)", live, err)
	}
}

func TestPoolIsNotRefilledWithoutCapacity(t *testing.T) {
	p := newPooled(t)
	p.cloud.Put(family.Machine{ID: "other", State: family.MachineRunning})
	p.cloud.SetQuota(1)
	count := 4
	if _, err := p.app.Pool.Pools.CreatePool(p.ctx, p.admin, pool.Request{Name: "base", Hardware: "small", Image: "linux", Provider: "cloud", Count: &count}); err != nil {
		t.Fatal(err)
	}
	v := p.until("base", "what failed is given back", func(v pool.View) bool {
		return v.Error != "" && v.Creating+v.Failed+v.Deleting == 0
	})
	if v.RetryAt.Before(v.ErrorAt.Add(5*time.Second)) || v.Ready != 0 {
		t.Errorf("after failures: %+v", v)
	}
	asked := p.cloud.Count(fake.Create)
	config := p.config
	config.Now = func() time.Time { return v.RetryAt.Add(-time.Second) } // a busy host may be there only after it
	waiting := appall.New(config)
	for range 5 {
		if _, err := waiting.Pool.Reconciler.ReconcilePools(p.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.cloud.Count(fake.Create); n != asked {
		t.Errorf("while it waits the cloud is asked %d times more", n-asked)
	}
	said := 0
	notices, err := p.app.Cluster.Dashboard.Notices(p.ctx, p.admin, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notices {
		if n.Kind == app.NoticePool {
			said++
		}
	}
	if said != 1 {
		t.Errorf("people get %d notices, want 1", said)
	}
	p.cloud.SetQuota(0)
	p.set(pool.Request{Name: "base", Count: &count}) // a change is tried at once
	v = p.until("base", "it is full", func(v pool.View) bool { return v.Ready == count && v.Error == "" })
	if n := p.machines() - 1; n != count || !v.ErrorAt.IsZero() {
		t.Errorf("%d machines, %+v", n, v)
	}
}

func TestPoolMachinesAreReplaced(t *testing.T) {
	p := newPooled(t)
	var ahead time.Duration
	now := func() time.Time { return time.Now().Add(ahead) }
	p.app.Pool.Pools.Now, p.app.Pool.Reconciler.Now = now, now
	v := p.pool("base", 2)
	old := []string{v.Machines[0].MachineID, v.Machines[1].MachineID}
	// The end of a machine's create wakes the pool once more, maybe after it was seen to be full.
	p.until("base", "the pool rests", func(pool.View) bool {
		due, err := p.store.DuePools(p.ctx, time.Now().Add(time.Hour), 10)
		return err == nil && len(due) == 0
	})
	ahead = pool.DefaultPoolAge + time.Second
	v = p.until("base", "both are replaced", func(v pool.View) bool {
		return v.Ready == 2 && v.Deleting == 0 && !slices.ContainsFunc(v.Machines, func(m pool.Machine) bool { return slices.Contains(old, m.MachineID) })
	})
	if n := p.machines(); n != 2 {
		t.Errorf("%d machines, want 2", n)
	}
	// One that is lost leaves the pool, and another one comes.
	stop := p.reconciler(nil)
	defer stop()
	lost := v.Machines[0].MachineID
	p.cloud.Vanish(lost)
	p.until("base", "the lost one is replaced", func(v pool.View) bool {
		return v.Ready == 2 && !slices.ContainsFunc(v.Machines, func(m pool.Machine) bool { return m.MachineID == lost })
	})
	if _, err := p.app.Pool.Pools.DrainPool(p.ctx, p.admin, "base"); err != nil {
		t.Fatal(err)
	}
	p.until("base", "it is drained", func(v pool.View) bool { return len(v.Machines) == 0 && v.Mode == pool.ModeDrained })
	if n := p.machines(); n != 0 {
		t.Errorf("%d machines are left in a pool that was drained", n)
	}
}

// Wherever server and worker die while machines are handed out, the cluster comes up on just the pool's machines.
func TestCrashDuringPoolHandoff(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before the end of each step is written: %v", before), func(t *testing.T) {
			m := newMortal(t)
			nodes := fake.NewNodes(t.TempDir())
			t.Cleanup(func() { m.drop(); _ = nodes.Close() })
			m.cloud.Bind(nodes.Bind)
			m.cloud.OnAdopt(nodes.Adopt)
			m.keys = remote.Keys{}
			m.drop()
			m.live(nil, false)
			count := 3
			if _, err := m.app.Pool.Pools.CreatePool(t.Context(), m.admin, pool.Request{Name: "base", Hardware: "small", Image: "linux", Provider: "cloud", Count: &count}); err != nil {
				t.Fatal(err)
			}
			var v pool.View
			for deadline := time.Now().Add(hangs); v.Ready < count; time.Sleep(20 * time.Millisecond) {
				if _, err := m.app.Pool.Reconciler.ReconcilePools(t.Context()); err != nil {
					t.Fatal(err)
				}
				var err error
				if v, err = m.app.Pool.Pools.Pool(t.Context(), m.admin, "base"); err != nil || time.Now().After(deadline) {
					t.Fatalf("the pool does not fill: %+v (%v)", v, err)
				}
			}
			if _, err := m.app.Pool.Pools.ChangePool(t.Context(), m.admin, pool.Request{Name: "base", Mode: pool.ModeOff}); err != nil {
				t.Fatal(err)
			}
			c, err := m.app.Cluster.Creates.CreateCluster(t.Context(), m.admin, cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 3}})
			if err != nil {
				t.Fatal(err)
			}
			is, deaths := m.carryOut(c.ID, true, before)
			if is.Status != app.ClusterActive || deaths == 0 {
				t.Fatalf("after %d deaths the cluster is %s: %s", deaths, is.Status, is.Message)
			}
			if n := m.cloud.Count(fake.Create); n != count {
				t.Errorf("the cloud was asked for %d machines, want the pool's %d", n, count)
			}
			for _, n := range is.Nodes {
				if n.Pool != "base" || n.TakenFrom != "" {
					t.Errorf("node %+v", n)
				}
			}
			for _, x := range v.Machines {
				if s, err := m.store.ClusterSecrets(t.Context(), app.DefaultTenant, x.Cluster); err != nil || len(s.PrivateKey) != 0 {
					t.Errorf("the pool's key of %s is kept (%v)", x.MachineID, err)
				}
			}
		})
	}
}
