package execution

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) claimMany(w app.WorkerID, most int) []*execution.ClaimedStep {
	t.Helper()
	cs, err := t.Store.ClaimSteps(t.Ctx, execution.ClaimQuery{Worker: w, Now: t.Clock.Now(), For: execution.ClaimFor, Most: most})
	t.Must(err)
	if len(cs) > most {
		t.Fatalf("%d steps were claimed, at most %d were asked for", len(cs), most)
	}
	return cs
}

// mixedBatch reports good, failed, stale, doubled and foreign fences in one message: each has its own end.
func (t *storeTest) mixedBatch() {
	t.Create("web", 5)
	w := app.WorkerID{Tenant: kit.Tenant, Name: "w"}
	cs := t.claimMany(w, 9)
	if len(cs) != 5 {
		t.Fatalf("%d steps were claimed, want the five that are queued", len(cs))
	}
	now := t.Clock.Now()
	old := kit.Fence(cs[3])
	old.Attempt = 7
	fs := []execution.Finish{
		{Fence: kit.Fence(cs[0]), Now: now, ClaimFor: execution.ClaimFor, Node: &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-1"}}},
		{Fence: kit.Fence(cs[1]), Now: now, Err: &app.Error{Code: app.EScript, Message: "it broke"}},
		{Fence: old, Now: now},
		{Fence: kit.Fence(cs[0]), Now: now},
		{Fence: app.Fence{Operation: 999999, Index: 0, Attempt: 1}, Now: now},
		{Fence: kit.Fence(cs[2]), Now: now, Err: &app.Error{Code: app.ETransient, Message: "busy"}, Retry: app.Retry{Again: true, After: time.Minute}},
		{Fence: kit.Fence(cs[3]), Now: now, Node: &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-4"}}},
	}
	done, err := t.Store.FinishSteps(t.Ctx, w, fs)
	t.Must(err)
	for i, stale := range []bool{false, false, true, true, true, false, false} {
		if (done[i].Err != nil) != stale || stale && done[i].Err.Code != app.EStale {
			t.Errorf("report %d: %v, want stale %v", i, done[i].Err, stale)
		}
	}
	if n := done[0].Next; n == nil || n.Node.MachineID != "m-1" || n.Step.ID != cs[0].Node.Name+".confirm" || n.Cluster.ID != "web-1" {
		t.Errorf("handed over was %+v, want the confirm of the same node, with what was just found out", n)
	}
	foreign, err := t.Store.FinishSteps(t.Ctx, app.WorkerID{Tenant: "t2", Name: "w"}, []execution.Finish{{Fence: kit.Fence(cs[4]), Now: now}})
	t.Must(err)
	if foreign[0].Err == nil || foreign[0].Err.Code != app.EStale {
		t.Errorf("another tenant's worker ended the step: %+v", foreign[0])
	}
	op := cs[0].Step.Operation
	want := map[app.StepState]int{app.StepSucceeded: 2, app.StepFailed: 1, app.StepReady: 1, app.StepRunning: 2, app.StepQueued: 1, app.StepWaiting: 13}
	steps, err := t.Store.Steps(t.Ctx, kit.Tenant, op)
	t.Must(err)
	got := map[app.StepState]int{}
	for _, s := range steps {
		got[s.State]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("steps are %v, want %v", got, want)
	}
	if o := t.Operation("web-1", op); o.Done != 2 {
		t.Errorf("%d steps are counted as done, want 2", o.Done)
	}
	nothing, err := t.Store.FinishSteps(t.Ctx, w, nil)
	t.Must(err)
	if len(nothing) != 0 {
		t.Errorf("no reports have %d answers", len(nothing))
	}
}

// manyAtOnce lets many workers claim and report at the same time.
func (t *storeTest) manyAtOnce() {
	const nodes = 60
	op := t.Create("web", nodes)
	var all sync.WaitGroup
	var mu sync.Mutex
	effects := map[string]int{}
	for i := range 12 {
		all.Go(func() {
			w := app.WorkerID{Tenant: kit.Tenant, Name: fmt.Sprint("w", i)}
			for idle := 0; idle < 200; {
				cs := t.claimMany(w, 1+i%4)
				if len(cs) == 0 {
					idle++
				}
				for len(cs) > 0 {
					var fs []execution.Finish
					for _, c := range cs {
						fs = append(fs, execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), ClaimFor: execution.ClaimFor})
						mu.Lock()
						effects[c.Step.ID]++
						mu.Unlock()
					}
					done, err := t.Store.FinishSteps(t.Ctx, w, fs)
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
				if t.Operation("web-1", op.ID).Status.Ended() {
					return
				}
			}
		})
	}
	all.Wait()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
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
	t.Create("web", 2)
	last := map[string]int64{}
	seen := func(c *execution.ClaimedStep) {
		t.Helper()
		if c.Epoch <= last[c.Node.Name] {
			t.Errorf("%s was claimed with epoch %d after %d", c.Step.ID, c.Epoch, last[c.Node.Name])
		}
		last[c.Node.Name] = c.Epoch
	}
	c := t.Claim("w")
	seen(c)
	t.Clock.Move(execution.ClaimFor + time.Second)
	_, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	run := func() {
		t.Helper()
		for c := t.Claim("w"); c != nil; c = t.Claim("w") {
			for ; c != nil; c = t.Finish(c, true) {
				seen(c)
			}
		}
	}
	run()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.Remove(2)
	run()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

// fairness checks that a huge operation does not keep small ones waiting, neither at the queue nor along its chains.
func (t *storeTest) fairness() {
	t.Create("huge", 40)
	w := app.WorkerID{Tenant: kit.Tenant, Name: "w"}
	held := t.claimMany(w, 20)
	if len(held) != 20 {
		t.Fatalf("%d steps were claimed, want 20", len(held))
	}
	t.Create("small", 2)
	of := func(cs []*execution.ClaimedStep) string {
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
	if next := t.Finish(held[0], true); next != nil {
		t.Errorf("%s was handed over although the small one waits", next.Step.ID)
	}
	if got := of(t.claimMany(w, 1)); got != "map[small:1]" {
		t.Errorf("the freed slot goes to %s, want the small one", got)
	}
	if next := t.Finish(held[1], true); next == nil {
		t.Error("nothing was handed over although no one else waits")
	}
	// Among equals what returns machines goes first, then what is short.
	t.Create("first", 3)
	t.Create("short", 1)
	t.Create("gone", 2)
	for _, o := range []string{"gone"} {
		t.Submit(app.OperationDelete, o+"-1", apptest.Remove(2), true)
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
		t.Errorf("the slots went to %s, %s, %s, want deletion first, then the short one", got[0].Cluster.Name, got[1].Cluster.Name, got[2].Cluster.Name)
	}
	if got := of(t.claimMany(w, 2)); got != "map[first:1 gone:1]" {
		t.Errorf("the next two slots went to %s", got)
	}
}

// tenantsInBatches checks that what is claimed in one go stays with the tenant who asked.
func (t *storeTest) tenantsInBatches() {
	n := apptest.NewCluster("t2", "theirs", 4, t.Clock.Now(), apptest.Chain(4))
	for i := range n.Nodes {
		n.Nodes[i].Intent = fmt.Sprint("theirs-", i)
	}
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Create("ours", 4)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			w := app.WorkerID{Tenant: []string{kit.Tenant, "t2"}[i%2], Name: fmt.Sprint("w", i)}
			cs, err := t.Store.ClaimSteps(t.Ctx, execution.ClaimQuery{Worker: w, Now: t.Clock.Now(), For: execution.ClaimFor, Most: 1})
			if err != nil || len(cs) != 1 || cs[0].Tenant != w.Tenant || cs[0].Step.Worker != w.Name || cs[0].Cluster.Tenant != w.Tenant {
				t.Errorf("worker %s of %s was given %+v (%v)", w.Name, w.Tenant, cs, err)
			}
		})
	}
	all.Wait()
	d, err := t.Store.ExtendClaims(t.Ctx, app.WorkerID{Tenant: "t2", Name: "w0"}, []app.Fence{{Operation: 2, Index: 0, Attempt: 1}}, t.Clock.Now(),
		execution.ClaimFor)
	t.Must(err)
	if !d[0].Lost {
		t.Error("a worker extends another tenant's claim")
	}
}

// releaseWorkers takes back what some workers hold, and nothing of others whose names are like theirs.
func (t *storeTest) releaseWorkers() {
	t.Create("web", 4)
	for _, w := range []string{"w1", "w10", "w2", "x"} {
		if t.Claim(w) == nil {
			t.Fatal("there is nothing to claim")
		}
	}
	n, err := t.Store.ReleaseWorkers(t.Ctx, []string{"w1", "x", "unknown"}, t.Clock.Now())
	t.Must(err)
	if n != 2 {
		t.Errorf("%d claims were taken back, want those of w1 and x", n)
	}
	if n, err = t.Store.ReleaseWorkers(t.Ctx, nil, t.Clock.Now()); err != nil || n != 0 {
		t.Errorf("%d claims of no one were taken back (%v)", n, err)
	}
	if n, err = t.Store.ReleaseClaims(t.Ctx, "w", t.Clock.Now()); err != nil || n != 2 {
		t.Errorf("%d claims were taken back (%v), want those of w10 and w2", n, err)
	}
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(dispatches) != 4 {
		t.Errorf("%d steps are to be had, want 4", len(dispatches))
	}
}

// clockSetForward makes every claim look lost once; the workers' late reports change nothing, and all continues.
func (t *storeTest) clockSetForward() {
	t.Create("web", 3)
	held := t.claimMany(app.WorkerID{Tenant: kit.Tenant, Name: "w"}, 3)
	t.Clock.Move(365 * 24 * time.Hour)
	n, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 3 {
		t.Errorf("%d claims were taken back, want 3", n)
	}
	_, err = t.End("w", execution.Finish{Fence: kit.Fence(held[0]), Now: t.Clock.Now()})
	t.Code(err, app.EStale)
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}
