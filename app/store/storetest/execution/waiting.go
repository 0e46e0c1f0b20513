package execution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/plan"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

func (t *storeTest) waitingRows(op app.Operation, f execution.WaitingFilter) execution.WaitingRows {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 50
	}
	w, err := t.Store.WaitingRows(t.Ctx, kit.Tenant, op.ID, f, t.Clock.Now())
	t.Must(err)
	return w
}

// waits is about what steps wait for, as people are notified.
func (t *storeTest) waits() {
	op := t.Create("web", 3)
	w := t.waitingRows(op, execution.WaitingFilter{})
	var groups []string
	for _, g := range w.Groups {
		groups = append(groups, fmt.Sprintf("%s %s %s %d", g.State, g.Action, g.Service, g.Count))
	}
	if got, want := fmt.Sprint(groups), "[queued create  3 waiting confirm  3 waiting start a 3 waiting start b 3]"; got != want {
		t.Errorf("groups: %s, want %s", got, want)
	}
	if len(w.Steps) != 12 || w.More || len(w.Example) != 4 {
		t.Fatalf("%d steps and %d examples, more: %v", len(w.Steps), len(w.Example), w.More)
	}
	// A start waits, through a join, for what is nearest to its end.
	c := t.Claim("w")
	t.Finish(c, false)
	c = t.Claim("w") // n1.confirm or n2.create, whichever is better
	for c != nil && c.Step.Action != app.ActionConfirm {
		c = t.Claim("w")
	}
	w = t.waitingRows(op, execution.WaitingFilter{Step: "n2.a.start"})
	if len(w.Steps) != 1 || len(w.Needs[w.Steps[0].Index]) != 3 {
		t.Fatalf("n2.a.start: %+v needs %+v", w.Steps, w.Needs)
	}
	if first := w.Needs[w.Steps[0].Index][0]; first.ID != "n1.confirm" || first.State != app.StepRunning || first.Join {
		t.Errorf("the first that it waits for is %+v", first)
	}
	// A page begins where the last one ended.
	first := t.waitingRows(op, execution.WaitingFilter{Limit: 2})
	if len(first.Steps) != 2 || !first.More {
		t.Fatalf("the first page: %+v", first.Steps)
	}
	next := t.waitingRows(op, execution.WaitingFilter{Limit: 2, From: first.Steps[1].Index + 1})
	if len(next.Steps) == 0 || next.Steps[0].Index <= first.Steps[1].Index {
		t.Errorf("the second page begins at %+v", next.Steps)
	}
	if other := t.waitingRows(op, execution.WaitingFilter{Node: "n3"}); len(other.Steps) == 0 || other.Steps[0].Node != "n3" {
		t.Errorf("the page of n3: %+v", other.Steps)
	}
	if w, err := t.Store.WaitingRows(t.Ctx, "t2", op.ID, execution.WaitingFilter{Limit: 5}, t.Clock.Now()); err != nil || len(w.Steps)+len(w.Groups) > 0 {
		t.Errorf("another tenant sees %+v, %v", w, err)
	}
}

// backsOff is about steps that failed, and how long they are being tried.
func (t *storeTest) backsOff() {
	op := t.Create("web", 1)
	c := t.Claim("w")
	if !c.TriedAt.IsZero() {
		t.Errorf("a first try began its tries at %s", c.TriedAt)
	}
	began := t.Clock.Now()
	t.Clock.Move(time.Second)
	t.FailStep(c, app.Retry{Again: true, After: time.Minute})
	w := t.waitingRows(op, execution.WaitingFilter{})
	if g := w.Groups[len(w.Groups)-1]; g.State != app.StepReady && w.Groups[0].State != app.StepReady {
		t.Errorf("groups: %+v", w.Groups)
	}
	for _, g := range w.Groups {
		if g.State == app.StepReady && (g.Code != app.EScript || !g.Until.Equal(t.Clock.Now().Add(time.Minute))) {
			t.Errorf("the back-off is reported as %+v", g)
		}
	}
	q, err := t.Store.QueueLines(t.Ctx, kit.Tenant, t.Clock.Now())
	t.Must(err)
	if len(q.Lines) != 1 || q.Lines[0].Ready != 1 || len(q.BackOffs) != 1 || q.BackOffs[0].Count != 1 || q.BackOffs[0].Code != app.EScript {
		t.Errorf("the queue: %+v", q)
	}
	tenants, more, err := t.Store.QueueTenants(t.Ctx, 10)
	t.Must(err)
	if len(tenants) != 1 || tenants[0].Tenant != kit.Tenant || !tenants[0].Oldest.Equal(q.Lines[0].CreatedAt) || more != 0 {
		t.Errorf("tenants with a queue: %+v and %d more", tenants, more)
	}
	if some, more, err := t.Store.QueueTenants(t.Ctx, 1); err != nil || len(some) != 1 || more != 0 {
		t.Errorf("of one tenant: %+v and %d more, %v", some, more, err)
	}
	for range 2 {
		t.Clock.Move(2 * time.Minute)
		_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
		t.Must(err)
		if c = t.Claim("w"); c == nil || !c.TriedAt.Equal(began) {
			t.Fatalf("the step is tried since %+v, want %s", c, began)
		}
		t.FailStep(c, app.Retry{Again: true, After: time.Minute})
	}
	t.Clock.Move(2 * time.Minute)
	_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	t.FailStep(t.Claim("w"), app.Retry{})
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: op.ID, Act: app.ControlResume, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	if c = t.Claim("w"); c == nil || !c.TriedAt.IsZero() || c.Step.Attempt != 5 {
		t.Errorf("after a resume the tries continue: %+v", c)
	}
}

// waitsAgree asks queue and why about the same steps, which failed at random: what the queue tells of many is what why tells of each.
func (t *storeTest) waitsAgree() {
	const seed = 21
	random := rand.New(rand.NewPCG(seed, 0))
	codes := []app.Code{app.EScript, app.ECapacity, app.ETransient, app.ERateLimit}
	var ops []app.Operation
	for i := range 4 {
		ops = append(ops, t.Create(fmt.Sprintf("web%d", i), 6))
	}
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		after := time.Duration(1+random.IntN(5000)) * time.Second
		if random.IntN(3) == 0 {
			after = time.Minute // several at once
		}
		t.FailStepWith(c, &app.Error{Code: codes[random.IntN(len(codes))], Message: strings.Repeat("it broke badly ", 20)}, app.Retry{Again: true, After: after})
	}
	// What is paused isn't tried again by itself, and neither of the two may say so.
	_, err := t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: ops[3].ID, Act: app.ControlPause, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	a := all.New(all.Config{Store: t.Store, Now: t.Clock.Now, Catalog: template.NewCatalog})
	ada := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleAdmin}
	for round := range 30 {
		q, err := a.Execution.Waits.Queue(t.Ctx, ada)
		t.Must(err)
		type span struct {
			first, last time.Time
			n           int
		}
		notified, found := map[string]span{}, map[string]span{} // by cause
		cause := func(text string) string {
			_, text, _ = strings.Cut(text, "because ")
			text, _, _ = strings.Cut(strings.TrimSuffix(text, "."), " (attempt")
			return text
		}
		for _, g := range q.Groups {
			if !g.Until.IsZero() {
				notified[cause(g.Text)] = span{g.Until, g.Last, g.Count}
			}
		}
		whole := 0
		for _, op := range ops {
			w, err := a.Execution.Waits.Waiting(t.Ctx, ada, op.Cluster, execution.WaitingFilter{Limit: 500})
			t.Must(err)
			groups := map[time.Time]int{}
			for _, g := range w.Groups {
				groups[g.Until]++
				groups[g.Last]++
			}
			for _, s := range w.Steps {
				if strings.Count(s.Text, "it broke badly") > 1 {
					whole++
				}
				if s.Until.IsZero() {
					continue
				}
				f := found[cause(s.Text)]
				if f.n++; f.n == 1 || s.Until.Before(f.first) {
					f.first = s.Until
				}
				if s.Until.After(f.last) {
					f.last = s.Until
				}
				found[cause(s.Text)] = f
			}
			for at := range groups {
				if !at.IsZero() && !slices.ContainsFunc(w.Steps, func(s execution.Wait) bool { return s.Until.Equal(at) }) {
					t.Errorf("round %d: a group of %s is reported %s, which is the time of none of its steps", round, op.Cluster, at)
				}
			}
		}
		if fmt.Sprint(notified) != fmt.Sprint(found) || round == 0 && len(found) == 0 {
			t.Fatalf("seed %d, round %d: the queue tells\n%v\nand why\n%v", seed, round, notified, found)
		}
		if whole > len(ops) {
			t.Errorf("round %d: the whole error is repeated %d times in %d answers", round, whole, len(ops))
		}
		t.Clock.Move(time.Duration(random.IntN(400)) * time.Second)
		_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
		t.Must(err)
		if random.IntN(2) == 0 {
			for c := t.Claim("w"); c != nil; c = t.Claim("w") {
				t.FailStepWith(c, &app.Error{Code: codes[random.IntN(len(codes))], Message: strings.Repeat("it broke badly ", 20)},
					app.Retry{Again: true, After: time.Duration(1+random.IntN(3000)) * time.Second})
			}
		}
	}
}

// rollBacks is about which operations are to be rolled back by themselves.
func (t *storeTest) rollBacks() {
	n := apptest.NewCluster(kit.Tenant, "web", 2, t.Clock.Now(), apptest.Chain(2))
	n.Operation.Operation.OnFailure = app.FailureRollBack
	op, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	due := func() []app.Operation {
		t.Helper()
		ops, err := t.Store.RollBacksDue(t.Ctx, 10)
		t.Must(err)
		return ops
	}
	t.Create("other", 1) // which wants none
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if len(due()) > 0 {
			t.Fatal("something that runs is to be rolled back")
		}
		t.FailStep(c, app.Retry{})
	}
	if got := due(); len(got) != 1 || got[0].ID != op.ID || got[0].OnFailure != app.FailureRollBack {
		t.Fatalf("due: %+v", got)
	}
	undo := cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: op.Cluster, Kind: app.OperationRollBack, RollsBack: op.ID, Requester: "muster",
		CreatedAt: t.Clock.Now()}, Plan: plan.Plan{Kind: app.OperationRollBack, Steps: apptest.Remove(1).Steps}}
	if _, err := t.Store.SubmitOperation(t.Ctx, undo); app.CodeOf(err) != app.EConflict {
		t.Errorf("a plan that leaves a machine behind is taken: %v", err)
	}
	undo.Plan.Steps = apptest.Remove(2).Steps
	_, err = t.Store.SubmitOperation(t.Ctx, undo)
	t.Must(err)
	if got := due(); len(got) != 0 {
		t.Errorf("due although it is being done: %+v", got)
	}
	_, err = t.Store.SubmitOperation(t.Ctx, undo)
	t.Code(err, app.EConflict)
	t.Drain()
	t.Status(op.Cluster, app.ClusterDeleted, app.OperationSucceeded)
}
