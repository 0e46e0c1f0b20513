package execution

import (
	"fmt"
	"math/rand/v2"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/ledger/ledgertest"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// likeTheBook does the same random things to the store and to a Book: workers claim, report in batches, vanish and come
// back late, clocks jump, people cancel, pause, resume and delete. After each of them both are the same.
func (t *storeTest) likeTheBook() {
	for seed := range apptest.Rounds(6) {
		o := &oracle{storeTest: t, r: rand.New(rand.NewPCG(seed, 7)), book: ledgertest.NewBook(), prefix: fmt.Sprintf("o%d", seed), tenant: fmt.Sprintf("o%d", seed)}
		for i := range 110 {
			o.act()
			o.compare()
			if t.Failed() {
				t.Fatalf("seed %d, act %d: %s", seed, i, o.last)
			}
		}
	}
}

type oracle struct {
	*storeTest
	r        *rand.Rand
	book     *ledgertest.Book
	prefix   string
	tenant   string
	clusters []string
	held     []app.Fence
	last     string
}

func (o *oracle) act() {
	if len(o.clusters) == 0 {
		o.create()
		return
	}
	switch o.r.IntN(16) {
	case 0:
		o.create()
	case 1, 2, 3:
		o.claim()
	case 4, 5, 6, 7:
		o.finish()
	case 8:
		o.sweep(time.Duration(o.r.IntN(30)) * time.Second)
	case 9:
		o.sweep([]time.Duration{-24 * time.Hour, 24 * time.Hour, 3 * time.Hour}[o.r.IntN(3)])
	case 10:
		o.remove()
	case 11:
		o.control(app.ControlCancel, "")
	case 12:
		o.control(app.ControlPause, "")
	case 13, 14:
		o.answer()
	default:
		o.control(app.ControlResume, []string{"", "", "n1", "n2"}[o.r.IntN(4)])
	}
}

func (o *oracle) create() {
	if len(o.clusters) > 4 {
		return
	}
	nodes := 1 + o.r.IntN(4)
	name := fmt.Sprintf("%s-%d", o.prefix, len(o.clusters))
	o.last = "create " + name
	n := apptest.NewCluster(o.tenant, name, nodes, o.Clock.Now(), apptest.Chain(nodes))
	if o.r.IntN(2) == 0 {
		n.Operation.Plan = kit.Asking(nodes, template.Person{Ask: "Go on?", Timeout: 2 * time.Hour, OnTimeout: template.AnswerChoices[o.r.IntN(2)]})
	}
	op, err := o.Store.CreateCluster(o.Ctx, n)
	o.Must(err)
	o.clusters = append(o.clusters, n.Cluster.ID)
	n.Operation.Operation.ID = op.ID
	o.book.Submit(n.Operation.Operation, n.Operation.Plan, false)
}

// answer says something to what is, or was, asked.
func (o *oracle) answer() {
	all, err := o.Store.ManualSteps(o.Ctx, o.tenant, execution.ManualStepFilter{All: true, Limit: 100})
	o.Must(err)
	if len(all) == 0 {
		return
	}
	q := all[o.r.IntN(len(all))]
	n := execution.NewAnswer{Tenant: o.tenant, Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Who: app.Actor{Tenant: o.tenant, User: "ada"}, Now: o.Clock.Now(),
		Refuse: []string{"", "", "no"}[o.r.IntN(3)]}
	o.last = fmt.Sprintf("answer %+v", n)
	refused := ""
	if n.Refuse != "" {
		refused = "ada refused: " + n.Refuse
	}
	_, err = o.Store.AnswerManualStep(o.Ctx, n)
	took := o.book.Answer(app.Fence{Operation: n.Operation, Index: n.Index, Attempt: n.Attempt}, refused, n.Now)
	if took != (err == nil) {
		o.Errorf("the answer was taken %t (%v), want %t", err == nil, err, took)
	}
	if open := o.book.Of[ledger.Key{Operation: q.Operation, Index: q.Index}].State == app.StepAsked; took && open {
		o.Errorf("an answer was taken, and step %d is still asked", q.Index)
	}
}

func (o *oracle) remove() {
	c := o.clusters[o.r.IntN(len(o.clusters))]
	o.last = "delete " + c
	for _, op := range o.book.Operations {
		if op.Cluster == c && op.Kind == app.OperationDelete && (op.Status == app.OperationWaiting || op.Status == app.OperationRunning || op.Status == app.OperationSucceeded) {
			return // it is
		}
	}
	nodes, err := o.Store.Nodes(o.Ctx, o.tenant, c)
	o.Must(err)
	n := cluster.NewOperation{Plan: apptest.Remove(len(nodes)), Cancel: true, Operation: app.Operation{Tenant: o.tenant, Cluster: c, Kind: app.OperationDelete,
		Requester: "ada", CreatedAt: o.Clock.Now()}}
	op, err := o.Store.SubmitOperation(o.Ctx, n)
	o.Must(err)
	n.Operation.ID = op.ID
	o.book.Submit(n.Operation, n.Plan, true)
}

func (o *oracle) claim() {
	w := app.WorkerID{Tenant: o.tenant, Name: fmt.Sprint("w", o.r.IntN(3))}
	most := 1 + o.r.IntN(6)
	o.last = fmt.Sprintf("%s claims %d", w.Name, most)
	cs, err := o.Store.ClaimSteps(o.Ctx, execution.ClaimQuery{Worker: w, Now: o.Clock.Now(), For: execution.ClaimFor, Most: most})
	o.Must(err)
	want := o.book.Claim(w, o.Clock.Now(), execution.ClaimFor, most)
	if len(cs) != len(want) {
		o.Errorf("%d steps were claimed, want %d", len(cs), len(want))
		return
	}
	for i, c := range cs {
		o.same(c, want[i])
		o.held = append(o.held, kit.Fence(c))
	}
}

// same compares what was handed out.
func (o *oracle) same(c *execution.ClaimedStep, want *ledger.Step) {
	o.Helper()
	switch {
	case (c == nil) != (want == nil):
		o.Errorf("handed out was %+v, want %+v", c, want)
	case c == nil:
	case kit.Fence(c) != (app.Fence{Operation: want.Operation, Index: want.Index, Attempt: want.Attempt}) || c.Epoch != want.Epoch:
		o.Errorf("handed out was %+v with epoch %d, want step %d of %d, attempt %d, epoch %d", kit.Fence(c), c.Epoch, want.Index, want.Operation,
			want.Attempt, want.Epoch)
	}
}

func (o *oracle) finish() {
	if len(o.held) == 0 {
		return
	}
	w := app.WorkerID{Tenant: o.tenant, Name: fmt.Sprint("w", o.r.IntN(3))}
	var fs []execution.Finish
	for range 1 + o.r.IntN(6) {
		f := execution.Finish{Fence: o.held[o.r.IntN(len(o.held))], Now: o.Clock.Now()}
		switch o.r.IntN(6) {
		case 0:
			f.Err = &app.Error{Code: app.EScript, Message: "it broke"}
		case 1:
			f.Err, f.Retry = &app.Error{Code: app.ETransient, Message: "busy"}, app.Retry{Again: true, After: time.Duration(o.r.IntN(20)) * time.Second}
		}
		if o.r.IntN(2) == 0 {
			f.ClaimFor = execution.ClaimFor
		}
		fs = append(fs, f)
	}
	o.last = fmt.Sprintf("%s reports %+v", w.Name, fs)
	done, err := o.Store.FinishSteps(o.Ctx, w, fs)
	o.Must(err)
	handed, stale := o.book.Finish(w, o.Clock.Now(), fs)
	for i, d := range done {
		if (d.Err != nil) != stale[i] {
			o.Errorf("report %d: %v, want stale %v", i, d.Err, stale[i])
		}
		o.same(d.Next, handed[i])
		if d.Next != nil {
			o.held = append(o.held, kit.Fence(d.Next))
		}
	}
	if len(o.held) > 40 {
		o.held = o.held[len(o.held)-40:]
	}
}

func (o *oracle) sweep(d time.Duration) {
	o.last = fmt.Sprint("time goes by ", d)
	o.Clock.Move(d)
	_, err := o.Store.SweepSteps(o.Ctx, o.Clock.Now()) // which moves what earlier seeds have left, too
	o.Must(err)
	o.book.Sweep(o.Clock.Now())
}

func (o *oracle) control(act app.ControlAct, node string) {
	ids := make([]int64, 0, len(o.book.Operations))
	for _, c := range o.clusters {
		ids = append(ids, o.book.OperationsOf(c)...)
	}
	c := app.Control{Tenant: o.tenant, Operation: ids[o.r.IntN(len(ids))], Act: act, Node: node, Who: "ada", Now: o.Clock.Now()}
	o.last = fmt.Sprintf("%s %s %d", act, node, c.Operation)
	_, err := o.Store.ControlOperation(o.Ctx, c)
	if want := o.book.Control(c); app.CodeOf(err) != app.CodeOf(want) {
		o.Errorf("%v, want %v", err, want)
	}
}

// compare looks at every operation and step.
func (o *oracle) compare() {
	for _, c := range o.clusters {
		ops, err := o.Store.Operations(o.Ctx, o.tenant, c)
		o.Must(err)
		for _, op := range ops {
			want := o.book.Operations[op.ID]
			if op.Status != want.Status || op.Done != want.Done || op.Total != want.Total || !op.EndedAt.Equal(want.EndedAt) {
				o.Errorf("operation %d is %s with %d of %d done, want %s with %d of %d", op.ID, op.Status, op.Done, op.Total, want.Status, want.Done, want.Total)
			}
			steps, err := o.Store.Steps(o.Ctx, o.tenant, op.ID)
			o.Must(err)
			for _, s := range steps {
				w := o.book.Of[ledger.Key{Operation: op.ID, Index: s.Index}]
				if s.State != w.State || s.Attempt != w.Attempt || s.Tries != w.Tries || s.Worker != w.Worker || !s.NotBefore.Equal(w.NotBefore) {
					o.Errorf("%s of operation %d is %s, attempt %d (%d) by %q, not before %s; want %s, %d (%d) by %q, %s", s.ID, op.ID,
						s.State, s.Attempt, s.Tries, s.Worker, s.NotBefore, w.State, w.Attempt, w.Tries, w.Worker, w.NotBefore)
				}
			}
		}
	}
}
