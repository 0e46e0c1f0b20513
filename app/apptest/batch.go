package apptest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
)

func (t *storeTest) claimMany(w app.WorkerID, most int) []*app.ClaimedStep {
	t.Helper()
	cs, err := t.s.ClaimSteps(t.ctx, app.ClaimQuery{Worker: w, Now: t.clock.Now(), For: execution.ClaimFor, Most: most})
	t.must(err)
	if len(cs) > most {
		t.Fatalf("%d steps were claimed, at most %d were asked for", len(cs), most)
	}
	return cs
}

// mixedBatch reports good, failed, stale, doubled and foreign fences in one message: each has its own end.
func (t *storeTest) mixedBatch() {
	t.create("web", 5)
	w := app.WorkerID{Tenant: tenant, Name: "w"}
	cs := t.claimMany(w, 9)
	if len(cs) != 5 {
		t.Fatalf("%d steps were claimed, want the five that are queued", len(cs))
	}
	now := t.clock.Now()
	old := fence(cs[3])
	old.Attempt = 7
	fs := []app.Finish{
		{Fence: fence(cs[0]), Now: now, ClaimFor: execution.ClaimFor, Node: &app.NodeUpdate{Status: app.NodeCreated, Machine: &app.Machine{ID: "m-1"}}},
		{Fence: fence(cs[1]), Now: now, Err: &app.Error{Code: app.EScript, Message: "it broke"}},
		{Fence: old, Now: now},
		{Fence: fence(cs[0]), Now: now},
		{Fence: app.Fence{Operation: 999999, Index: 0, Attempt: 1}, Now: now},
		{Fence: fence(cs[2]), Now: now, Err: &app.Error{Code: app.ETransient, Message: "busy"}, Retry: app.Retry{Again: true, After: time.Minute}},
		{Fence: fence(cs[3]), Now: now, Node: &app.NodeUpdate{Status: app.NodeCreated, Machine: &app.Machine{ID: "m-4"}}},
	}
	done, err := t.s.FinishSteps(t.ctx, w, fs)
	t.must(err)
	for i, stale := range []bool{false, false, true, true, true, false, false} {
		if (done[i].Err != nil) != stale || stale && done[i].Err.Code != app.EStale {
			t.Errorf("report %d: %v, want stale %v", i, done[i].Err, stale)
		}
	}
	if n := done[0].Next; n == nil || n.Node.MachineID != "m-1" || n.Step.ID != cs[0].Node.Name+".confirm" || n.Cluster.ID != "web-1" {
		t.Errorf("handed over was %+v, want the confirm of the same node, with what was just found out", n)
	}
	foreign, err := t.s.FinishSteps(t.ctx, app.WorkerID{Tenant: "t2", Name: "w"}, []app.Finish{{Fence: fence(cs[4]), Now: now}})
	t.must(err)
	if foreign[0].Err == nil || foreign[0].Err.Code != app.EStale {
		t.Errorf("another tenant's worker ended the step: %+v", foreign[0])
	}
	op := cs[0].Step.Operation
	want := map[app.StepState]int{app.StepSucceeded: 2, app.StepFailed: 1, app.StepReady: 1, app.StepRunning: 2, app.StepQueued: 1, app.StepWaiting: 13}
	steps, err := t.s.Steps(t.ctx, tenant, op)
	t.must(err)
	got := map[app.StepState]int{}
	for _, s := range steps {
		got[s.State]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("steps are %v, want %v", got, want)
	}
	if o := t.operation("web-1", op); o.Done != 2 {
		t.Errorf("%d steps are counted as done, want 2", o.Done)
	}
	nothing, err := t.s.FinishSteps(t.ctx, w, nil)
	t.must(err)
	if len(nothing) != 0 {
		t.Errorf("no reports have %d answers", len(nothing))
	}
}

// manyAtOnce lets many workers claim and report at the same time.
func (t *storeTest) manyAtOnce() {
	const nodes = 60
	op := t.create("web", nodes)
	var all sync.WaitGroup
	var mu sync.Mutex
	effects := map[string]int{}
	for i := range 12 {
		all.Go(func() {
			w := app.WorkerID{Tenant: tenant, Name: fmt.Sprint("w", i)}
			for idle := 0; idle < 200; {
				cs := t.claimMany(w, 1+i%4)
				if len(cs) == 0 {
					idle++
				}
				for len(cs) > 0 {
					var fs []app.Finish
					for _, c := range cs {
						fs = append(fs, app.Finish{Fence: fence(c), Now: t.clock.Now(), ClaimFor: execution.ClaimFor})
						mu.Lock()
						effects[c.Step.ID]++
						mu.Unlock()
					}
					done, err := t.s.FinishSteps(t.ctx, w, fs)
					if err != nil {
						t.Error(err)
						return
					}
					cs = nil
					for _, d := range done {
						if d.Err != nil {
							t.Error(d.Err)
						}
						if d.Next != nil {
							cs = append(cs, d.Next)
						}
					}
				}
				if t.operation("web-1", op.ID).Status.Ended() {
					return
				}
			}
		})
	}
	all.Wait()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	for id, n := range effects {
		if n != 1 {
			t.Errorf("%s was carried out %d times", id, n)
		}
	}
	if len(effects) != 4*nodes {
		t.Errorf("%d steps were carried out, want %d", len(effects), 4*nodes)
	}
}

// epochs checks that every claim of a node has a greater epoch than all before it, whatever operation it belongs to.
func (t *storeTest) epochs() {
	t.create("web", 2)
	last := map[string]int64{}
	seen := func(c *app.ClaimedStep) {
		t.Helper()
		if c.Epoch <= last[c.Node.Name] {
			t.Errorf("%s was claimed with epoch %d after %d", c.Step.ID, c.Epoch, last[c.Node.Name])
		}
		last[c.Node.Name] = c.Epoch
	}
	c := t.claim("w")
	seen(c)
	t.clock.Move(execution.ClaimFor + time.Second)
	_, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	run := func() {
		t.Helper()
		for c := t.claim("w"); c != nil; c = t.claim("w") {
			for ; c != nil; c = t.finish(c, true) {
				seen(c)
			}
		}
	}
	run()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.remove(2)
	run()
	t.status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

// fairness checks that a huge operation does not keep small ones waiting, neither at the queue nor along its chains.
func (t *storeTest) fairness() {
	t.create("huge", 40)
	w := app.WorkerID{Tenant: tenant, Name: "w"}
	held := t.claimMany(w, 20)
	if len(held) != 20 {
		t.Fatalf("%d steps were claimed, want 20", len(held))
	}
	t.create("small", 2)
	of := func(cs []*app.ClaimedStep) string {
		count := map[string]int{}
		for _, c := range cs {
			count[c.Cluster.Name]++
		}
		return fmt.Sprint(count)
	}
	if got := of(t.claimMany(w, 1)); got != "map[small:1]" {
		t.Errorf("the next slot goes to %s, want the small one", got)
	}
	// A slot that becomes free on the huge one's chain goes to the small one, too.
	if next := t.finish(held[0], true); next != nil {
		t.Errorf("%s was handed over although the small one waits", next.Step.ID)
	}
	if got := of(t.claimMany(w, 1)); got != "map[small:1]" {
		t.Errorf("the freed slot goes to %s, want the small one", got)
	}
	if next := t.finish(held[1], true); next == nil {
		t.Error("nothing was handed over although nobody else waits")
	}
	// Among equals what gives machines back goes first, then what is short.
	t.create("first", 3)
	t.create("short", 1)
	t.create("gone", 2)
	for _, o := range []string{"gone"} {
		t.submit(app.OperationDelete, o+"-1", Remove(2), true)
	}
	got := t.claimMany(w, 3)
	var names []string
	for _, c := range got {
		names = append(names, c.Cluster.Name)
	}
	slices.Sort(names)
	if fmt.Sprint(names) != "[first gone short]" {
		t.Errorf("three slots went to %v, want one to each of the new ones", names)
	}
	if got[0].Cluster.Name != "gone" || got[1].Cluster.Name != "short" {
		t.Errorf("the slots went to %s, %s, %s, want the delete first, then the short one", got[0].Cluster.Name, got[1].Cluster.Name, got[2].Cluster.Name)
	}
	if got := of(t.claimMany(w, 2)); got != "map[first:1 gone:1]" {
		t.Errorf("the next two slots went to %s", got)
	}
}

// tenantsInBatches checks that what is claimed in one go stays with the tenant who asked.
func (t *storeTest) tenantsInBatches() {
	n := NewCluster("t2", "theirs", 4, t.clock.Now(), Chain(4))
	for i := range n.Nodes {
		n.Nodes[i].Intent = fmt.Sprint("theirs-", i)
	}
	_, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.create("ours", 4)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			w := app.WorkerID{Tenant: []string{tenant, "t2"}[i%2], Name: fmt.Sprint("w", i)}
			cs, err := t.s.ClaimSteps(t.ctx, app.ClaimQuery{Worker: w, Now: t.clock.Now(), For: execution.ClaimFor, Most: 1})
			if err != nil || len(cs) != 1 || cs[0].Tenant != w.Tenant || cs[0].Step.Worker != w.Name || cs[0].Cluster.Tenant != w.Tenant {
				t.Errorf("worker %s of %s was given %+v (%v)", w.Name, w.Tenant, cs, err)
			}
		})
	}
	all.Wait()
	d, err := t.s.ExtendClaims(t.ctx, app.WorkerID{Tenant: "t2", Name: "w0"}, []app.Fence{{Operation: 2, Index: 0, Attempt: 1}}, t.clock.Now(), execution.ClaimFor)
	t.must(err)
	if !d[0].Lost {
		t.Error("a worker extends another tenant's claim")
	}
}

// releaseWorkers takes back what some workers hold, and nothing of others whose names are like theirs.
func (t *storeTest) releaseWorkers() {
	t.create("web", 4)
	for _, w := range []string{"w1", "w10", "w2", "x"} {
		if t.claim(w) == nil {
			t.Fatal("there is nothing to claim")
		}
	}
	n, err := t.s.ReleaseWorkers(t.ctx, []string{"w1", "x", "nobody"}, t.clock.Now())
	t.must(err)
	if n != 2 {
		t.Errorf("%d claims were taken back, want those of w1 and x", n)
	}
	if n, err = t.s.ReleaseWorkers(t.ctx, nil, t.clock.Now()); err != nil || n != 0 {
		t.Errorf("%d claims of nobody were taken back (%v)", n, err)
	}
	if n, err = t.s.ReleaseClaims(t.ctx, "w", t.clock.Now()); err != nil || n != 2 {
		t.Errorf("%d claims were taken back (%v), want those of w10 and w2", n, err)
	}
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	if len(bells) != 4 {
		t.Errorf("%d steps are to be had, want 4", len(bells))
	}
}

// clockSetForward makes every claim look lost once; the workers' late reports change nothing, and all goes on.
func (t *storeTest) clockSetForward() {
	t.create("web", 3)
	held := t.claimMany(app.WorkerID{Tenant: tenant, Name: "w"}, 3)
	t.clock.Move(365 * 24 * time.Hour)
	n, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if n != 3 {
		t.Errorf("%d claims were taken back, want 3", n)
	}
	_, err = t.end("w", app.Finish{Fence: fence(held[0]), Now: t.clock.Now()})
	t.code(err, app.EStale)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}
